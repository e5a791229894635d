#pragma once

#include <cstddef>
#include <cstdint>

/// Whatever a server or a proxy can make grow has a limit, and the error of the hit that meets one names it. These are
/// the engine's: those that fail a hit, but for a header field over HTTP/2, where nghttp2 has its own of 64 KB, and the
/// bodies that are under way together, whose limit depends on the machine (BodyBudget). What results can make grow in a
/// report is bounded by ErrorTally and GroupedMetrics.
namespace pepe {

/// The head of an answer, its interim answers, its trailers and the extensions of its chunks share one budget. Over
/// HTTP/2 it is announced too, and a field costs 32 bytes beside its own (RFC 9113 6.5.2).
inline constexpr std::uint32_t kMaxHeadBytes = 1024 * 1024;
inline constexpr std::size_t kMaxHeadFields = 10'000;
/// A body, once unpacked.
inline constexpr std::uint64_t kMaxInflatedBytes = 1024ULL * 1024 * 1024;
/// A header block of HTTP/2 as it comes, in as many frames as the server likes; one that comes in crumbs costs more
/// than its bytes.
inline constexpr std::size_t kMaxBlockBytes = 1024 * 1024;
inline constexpr std::size_t kCrumbBytes = 1024;
/// Frames that answer the server's, and that it does not read.
inline constexpr std::size_t kMaxControlBytes = 256 * 1024;
/// The answer of a proxy to CONNECT.
inline constexpr std::size_t kMaxProxyHeadBytes = 64 * 1024;

}  // namespace pepe
