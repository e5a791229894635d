#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "pepe/base/expected.h"

namespace pepe {

/// A span of time, in nanoseconds. Every duration in pepe has this type.
using Nanos = std::chrono::nanoseconds;

/// The monotonic clock that hits are timed with.
using Clock = std::chrono::steady_clock;
using Instant = std::chrono::time_point<Clock, Nanos>;

/// `by` after `from`, or Instant::max(): flags take durations that instants do not reach. REQUIRES: by >= 0.
constexpr Instant after(Instant from, Nanos by) noexcept {
  return by <= Instant::max() - from ? from + by : Instant::max();
}

/// A point of wall-clock time, with the offset of the zone it is to be printed in.
struct Timestamp {
  /// Nanoseconds since 1970-01-01T00:00:00Z. Covers 1678 to 2262; Go's zero time (year 1) is kZeroTime.
  std::int64_t unix_nanos{0};
  /// Offset of local time from UTC, in minutes; 0 is printed as "Z".
  std::int16_t zone_minutes{0};

  friend bool operator==(const Timestamp&, const Timestamp&) = default;
};

/// What Go's time.Time{}.UnixNano() wraps to. Printed as 0001-01-01T00:00:00Z, and left out by gob.
inline constexpr std::int64_t kZeroTime = -6795364578871345152;

/// Offset of the machine's local zone from UTC at the instant `unix_nanos`, in minutes.
std::int16_t local_zone_minutes(std::int64_t unix_nanos);

/// RFC 3339 with up to nine decimals, trailing zeros removed: "2023-11-21T22:13:20.5Z". Appended to `out`.
void append_rfc3339(Timestamp time, std::string& out);
/// The inverse. Any offset and any number of decimals (beyond nine they are cut); an error for everything else.
Expected<Timestamp> parse_rfc3339(std::string_view text);

/// Go's duration syntax: a sign, then decimal numbers with a unit (ns us µs μs ms s m h): "1h30m", ".5s", "-1.5ms";
/// only "0" may lack the unit. Error: Go's words, `time: invalid duration "5x"` and so on.
Expected<Nanos> parse_duration(std::string_view text);

/// Go's form of a duration: "0s", "7ns", "1.5µs", "123.457ms", "1m1s", "2h2m0s".
std::string format_duration(Nanos duration);

/// Rounded half up to one unit below its own, as vegeta's text report does (ms to µs, s to ms, and so on).
Nanos round_duration(Nanos duration);

}  // namespace pepe
