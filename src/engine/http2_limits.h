#pragma once

#include <cstddef>
#include <cstdint>

namespace pepe {

/// Of an answer's head, decoded; announced, and enforced by Response.
inline constexpr std::uint32_t kMaxHeaderList = 1024 * 1024;
/// What the server never waits for: a hit's body is read as it comes, and kept as far as asked.
inline constexpr std::int64_t kStreamWindow = 4 * 1024 * 1024;
inline constexpr std::int64_t kConnectionWindow = 1 << 30;
/// What a window may come to (RFC 9113 6.9.1).
inline constexpr std::int64_t kMaxWindow = INT32_MAX;

}  // namespace pepe
