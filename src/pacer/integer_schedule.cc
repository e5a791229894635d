#include "pacer/integer_schedule.h"

#include <numeric>

namespace pepe {
namespace {

constexpr Wide kLimit = Wide{1} << 63;

}  // namespace

std::optional<CommonRates> over_common_denominator(std::span<const Rate> rates) {
  const auto lowest = [](const Rate& rate) { return std::gcd(rate.hits, rate.per.count()); };
  Wide per = 1;
  for (const Rate& rate : rates) {
    if (rate.hits == 0) continue;
    const auto own = static_cast<std::uint64_t>(rate.per.count() / lowest(rate));
    per *= own / std::gcd(static_cast<std::uint64_t>(per), own);
    if (per >= kLimit) return std::nullopt;
  }
  CommonRates common;
  common.per = static_cast<std::uint64_t>(per);
  for (const Rate& rate : rates) {
    if (rate.hits == 0) {
      common.units.push_back(0);
      continue;
    }
    const auto own = static_cast<std::uint64_t>(rate.per.count() / lowest(rate));
    const Wide units = Wide{static_cast<std::uint64_t>(rate.hits / lowest(rate))} * (common.per / own);
    if (units >= kLimit) return std::nullopt;
    common.units.push_back(static_cast<std::uint64_t>(units));
  }
  return common;
}

}  // namespace pepe
