#pragma once

#include <charconv>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace pepe {

/// Appends `value` in decimal digits.
template <class Integer>
void append_number(Integer value, std::string& out) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  out.append(digits, end);
}

/// Reads all of `text` as a decimal number; a sign '+' only before signed ones, as Go's ParseInt and
/// ParseUint. False: it is none, or beyond the range of `value`.
template <class Integer>
bool parse_number(std::string_view text, Integer& value) {
  if (std::is_signed_v<Integer> && text.starts_with('+') && !text.substr(1).starts_with('-')) text.remove_prefix(1);
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc{} && end == text.data() + text.size();
}

}  // namespace pepe
