#pragma once

#include <algorithm>
#include <string_view>

namespace pepe {

/// What would end a line of a request, or what no line of it may hold: CR, LF, NUL and the like.
constexpr bool is_control(char c) noexcept { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }
constexpr bool has_control(std::string_view text) noexcept { return std::any_of(text.begin(), text.end(), is_control); }

/// Whether `text` can be the value of a header: tabs are the only controls it may hold (RFC 9110, section 5.5).
constexpr bool is_header_value(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), [](char c) { return c == '\t' || !is_control(c); });
}

}  // namespace pepe
