#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pepe {

struct CodePoint {
  std::uint32_t value;
  std::size_t bytes;  ///< 0: no valid UTF-8 stands here.
};

/// The character that `text` begins with; surrogates and spellings longer than they need be are not valid.
/// REQUIRES: `text` is not empty.
CodePoint decode_utf8(std::string_view text) noexcept;

}  // namespace pepe
