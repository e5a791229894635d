#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "pepe/base/saturate.h"
#include "pepe/base/time.h"

namespace pepe {

/// One header line of a response, its name canonicalised ("Etag"). Views into memory of whoever made the Result.
struct HeaderView {
  std::string_view name;
  std::string_view value;
  friend bool operator==(const HeaderView&, const HeaderView&) = default;
};

/// What a hit's connection spoke.
enum class Protocol : std::uint8_t {
  kNone,   ///< The hit never had a connection, or nobody knows.
  kHttp1,  ///< HTTP/1.1 or 1.0.
  kHttp2,
};

/// The record of one hit: the hinge between the engine and every report.
/// A Result holds views only. Their memory belongs to the decoder (or the caller) that made it and is valid until that
/// decoder's next call; equal strings of one chunk of a native stream are the same pointer.
struct Result {
  std::string_view attack;     ///< -name.
  std::uint64_t seq{0};        ///< Number of the hit, from 0, in order of starting.
  std::uint16_t code{0};       ///< Status of the final answer; 0 when there was none or its body was not whole.
  Timestamp timestamp;         ///< When a worker took the hit up.
  Nanos latency{0};            ///< From `timestamp` to the last byte of the body, or the failure.
  std::uint64_t bytes_out{0};  ///< Request body; 0 when the hit failed.
  std::uint64_t bytes_in{0};   ///< Response body as kept: after inflation and -max-body; 0 when the hit failed.
  std::string_view error;      ///< Empty on success (200 <= code < 400).
  std::optional<std::string_view> body;  ///< nullopt: nil. What was kept, also the part of a body that broke off.
  std::string_view method;               ///< Of the target.
  std::string_view url;                  ///< Of the target, also after redirects.
  /// Of the final answer, in order of appearance. Names equal to one another need not be adjacent.
  std::span<const HeaderView> headers;
  bool has_headers{false};  ///< false: null (a failure); true with no headers: an empty set.

  // Only the native stream carries these; 0, false and none from other encodings.
  Nanos lag{0};                 ///< How late the hit was taken up, against its due time.
  std::uint64_t bytes_read{0};  ///< Body bytes that came over the connection, kept or not.
  bool has_lag{false};          ///< false: nobody knows how late.
  bool reused{false};           ///< The connection had carried a hit before.
  Protocol protocol{Protocol::kNone};

  /// From when the hit was due. REQUIRES: has_lag.
  Nanos latency_from_due() const noexcept { return Nanos{saturating_add(latency.count(), lag.count())}; }
  bool success() const noexcept { return code >= 200 && code < 400; }
};

}  // namespace pepe
