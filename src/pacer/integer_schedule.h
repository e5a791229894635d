#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "pepe/base/units.h"

/// Schedules in whole numbers. A shape counts its hits in a fine unit, of which `per` are one hit: count(t) units are
/// due before the offset t. Then hits_before(t) is count(t) / per, rounded up, and due(n) is the largest t with
/// count(t) <= n * per. The two so agree for each n, whatever count() is, as long as it never decreases; and a hit
/// falls on the end of a pause, not on its beginning.
namespace pepe {

__extension__ using Wide = unsigned __int128;

inline constexpr std::uint64_t kMostHits = std::numeric_limits<std::uint64_t>::max();
inline constexpr std::uint64_t kLastOffset = std::numeric_limits<std::int64_t>::max();

constexpr std::uint64_t saturate(Wide value) noexcept {
  return value > kMostHits ? kMostHits : static_cast<std::uint64_t>(value);
}

/// `units` over `per`, rounded up, or kMostHits.
constexpr std::uint64_t whole_hits(Wide units, Wide per) noexcept {
  return units == 0 ? 0 : saturate((units - 1) / per + 1);
}

/// Rates over one denominator: rate i is units[i] / per hits in a nanosecond.
struct CommonRates {
  std::vector<std::uint64_t> units;
  std::uint64_t per{1};
};

/// Numbers below 2^63. nullopt: the rates have none such in common. REQUIRES: none is negative, or of hits in no time.
std::optional<CommonRates> over_common_denominator(std::span<const Rate> rates);

/// The last number from `low` on, below `high`, for which `holds`: it holds for `low` and up to that number, and not
/// for `high`. The nearer `guess` is, the sooner it is found; it may be any number.
template <class Holds>
std::uint64_t last_where(std::uint64_t low, std::uint64_t high, std::uint64_t guess, Holds holds) {
  guess = std::clamp(guess, low, high - 1);
  std::uint64_t width = 1;
  if (holds(guess)) {
    low = guess;
    for (; high - low > width && holds(low + width); width *= 2) low += width;
    high = high - low > width ? low + width : high;
  } else {
    high = guess;
    for (; high - low > width && !holds(high - width); width *= 2) high -= width;
    low = high - low > width ? high - width : low;
  }
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (holds(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace pepe
