#pragma once

#include <cstdint>

/// Flow control of HTTP/2 (RFC 9113 5.2): how many bytes of bodies a server may send before it is told to go on.
namespace pepe {

/// For one body. So many that a server hardly ever waits: a body is taken in as fast as it comes, and no more of it is
/// kept than was asked for.
inline constexpr std::int64_t kStreamWindow = 4 * 1024 * 1024;
/// For all bodies of a connection.
inline constexpr std::int64_t kConnectionWindow = 1 << 30;
/// The widest that a peer may ask for (RFC 9113 6.9.1).
inline constexpr std::int64_t kMaxWindow = INT32_MAX;

}  // namespace pepe
