#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pepe/result/result.h"

namespace pepe {

/// A copy of the headers that an encoder wrote last, with what it made of them. Most results of a run carry
/// the same headers, so comparing them costs less than writing them again. Owns everything.
class EncodedHeaders {
 public:
  /// True when text() is already what `make` would give for `result`'s headers; false: call store().
  bool matches(const Result& result) const;
  /// Keeps a copy of the headers and returns the text, emptied, to be filled anew.
  std::string& store(const Result& result);
  std::string_view text() const noexcept { return text_; }

 private:
  bool stored_{false};
  bool has_headers_{false};
  std::string bytes_;                 ///< Names and values, end to end.
  std::vector<std::size_t> lengths_;  ///< Of each name and value in turn.
  std::string text_;
};

/// How the values of one name come together; values of a name keep their order.
enum class HeaderOrder { kByName, kByAppearance };

/// Fills `indices` with the indices of `headers` so that equal names are adjacent: names sorted, or in order
/// of first appearance. Headers of a usual number are grouped without an allocation once `indices` has grown.
void group_headers(std::span<const HeaderView> headers, HeaderOrder order, std::vector<std::size_t>& indices);

/// Appends `headers` as they stand in an HTTP message, sorted by name, with the closing blank line. As vegeta
/// does it: line breaks in a value become spaces, blanks around it go, a name that HTTP does not allow is
/// left out. `order` is room to work in.
void append_header_block(std::span<const HeaderView> headers, std::vector<std::size_t>& order, std::string& out);

/// Reads such a block. `names` holds the names, canonicalised; `headers` refers to `names` and `block`. Both
/// are overwritten. False: a line is no header, or the closing blank line is missing or not the last.
bool parse_header_block(std::string_view block, std::string& names, std::vector<HeaderView>& headers);

/// Appends `name` with its first letter and each letter after a '-' in upper case and all others in lower
/// case; a name that HTTP does not allow stays as it is.
void append_canonical_name(std::string_view name, std::string& out);

}  // namespace pepe
