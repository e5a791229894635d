#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace pepe {

/// What the bytes of a header block say without the table that they refer to (RFC 7541 6).
struct HpackScan {
  /// It only reads the table: the same bytes again mean the same fields.
  bool stable{true};
  /// Where the value of the last field begins, with its length in front; npos: it comes out of the table.
  std::size_t last_value{std::string_view::npos};
};

/// nullopt: cut short, or a number in it has no end.
std::optional<HpackScan> scan_hpack(std::string_view block);

}  // namespace pepe
