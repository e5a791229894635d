// HOT: due() once per hit. No allocation, lock, log or wall clock.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "pacer/integer_schedule.h"
#include "pacer/shapes.h"
#include "pepe/base/text.h"

namespace pepe {
namespace {

/// A step with all that lies before it, in units as integer_schedule.h has them.
struct Part {
  std::uint64_t start;  ///< Nanoseconds.
  Wide before;          ///< Units due before `start`.
  std::uint64_t units;  ///< In each nanosecond.
};

/// Nothing here overflows: rates are below 2^63 units a nanosecond, all steps together last less than 2^63 nanoseconds,
/// and a hit is less than 2^63 units.
class StepPacer final : public Pacer {
 public:
  StepPacer(std::vector<Part> parts, std::uint64_t per) noexcept : parts_{std::move(parts)}, per_{per} {}

  std::optional<Nanos> due(std::uint64_t n) const noexcept override {
    const Wide units = Wide{n} * per_;
    const auto next = std::upper_bound(parts_.begin(), parts_.end(), units,
                                       [](Wide wanted, const Part& part) { return wanted < part.before; });
    const Part& part = *std::prev(next);
    if (part.units == 0) return std::nullopt;  // the last one, and without an end
    const Wide offset = part.start + (units - part.before) / part.units;
    if (offset > kLastOffset) return std::nullopt;
    return Nanos{static_cast<std::int64_t>(offset)};
  }

  std::uint64_t hits_before(Nanos offset) const noexcept override {
    if (offset.count() <= 0) return 0;
    const auto at = static_cast<std::uint64_t>(offset.count());
    const auto next = std::upper_bound(parts_.begin(), parts_.end(), at,
                                       [](std::uint64_t wanted, const Part& part) { return wanted < part.start; });
    const Part& part = *std::prev(next);
    return whole_hits(part.before + Wide{part.units} * (at - part.start), per_);
  }

 private:
  std::vector<Part> parts_;  // the first starts at 0, the last has no end
  std::uint64_t per_;
};

}  // namespace

Expected<Load> make_step_load(const LoadFlags& flags) {
  if (flags.steps.empty()) return Error{"-pacer=step needs -steps, such as -steps=100:10s,500:1m"};
  std::vector<Rate> rates;
  for (const Step& step : flags.steps) rates.push_back(step.rate);
  const auto common = over_common_denominator(rates);
  if (!common) return Error{"-steps: the rates have no common measure: write them in the same unit of time"};

  std::vector<Part> parts;
  std::uint64_t start = 0;
  Wide before = 0;
  for (std::size_t i = 0; i < flags.steps.size(); ++i) {
    const auto lasts = static_cast<std::uint64_t>(flags.steps[i].lasts.count());
    parts.push_back({start, before, common->units[i]});
    start += lasts;
    before += Wide{common->units[i]} * lasts;
  }
  if (before == 0) return Error{"-steps: without a rate above 0 nothing would be sent"};
  const Nanos whole{static_cast<std::int64_t>(start)};
  Load load{.pacer = std::make_unique<StepPacer>(std::move(parts), common->per),
            .duration = flags.duration.value_or(whole),
            .rate = {},
            .shape = "step, " + printable(format_steps(flags.steps))};
  if (load.duration > Nanos{0} && load.pacer->hits_before(load.duration) == 0) {
    return Error{
        fmt::format("-duration={} ends in a pause, before the first hit of -steps", format_duration(load.duration))};
  }
  load.rate = average_rate(*load.pacer, load.duration, average_rate(*load.pacer, whole, {}));
  return load;
}

}  // namespace pepe
