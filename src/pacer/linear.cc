// HOT: due() once per hit. No allocation, lock, log or wall clock.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "pacer/integer_schedule.h"
#include "pacer/shapes.h"

namespace pepe {
namespace {

/// The rate goes from `from` to `to` units a nanosecond over `duration` = D. Its integral up to t is
///
///     from * t + (to - from) * t^2 / 2D  =  t * (from * (2D - t) + to * t) / 2D
///
/// which is counted here in units of which 2D * per are a hit, so that nothing is rounded. A hit's due time is a square
/// root, taken in floating point; what that may be off is mended by comparing counts.
class LinearPacer final : public Pacer {
 public:
  /// REQUIRES: duration > 0, from + to > 0, (from + to) * duration^2 < 2^128.
  LinearPacer(std::uint64_t from, std::uint64_t to, std::uint64_t per, std::uint64_t duration) noexcept
      : from_{from},
        to_{to},
        duration_{duration},
        unit_{Wide{2} * duration * per},
        all_{count(duration)},
        hits_{whole_hits(all_, unit_)},
        first_rate_{static_cast<double>(from) / static_cast<double>(per)},
        last_rate_{static_cast<double>(to) / static_cast<double>(per)},
        twice_slope_{2 * (std::max(first_rate_, last_rate_) - std::min(first_rate_, last_rate_)) /
                     static_cast<double>(duration)} {}

  std::optional<Nanos> due(std::uint64_t n) const noexcept override {
    if (n >= hits_) return std::nullopt;
    if (n == 0) return Nanos{0};
    const Wide units = n * unit_;
    const std::uint64_t offset =
        last_where(0, duration_, guess(n, units), [&](std::uint64_t t) { return count(t) <= units; });
    return Nanos{static_cast<std::int64_t>(offset)};
  }

  std::uint64_t hits_before(Nanos offset) const noexcept override {
    if (offset.count() <= 0) return 0;
    return whole_hits(count(std::min(static_cast<std::uint64_t>(offset.count()), duration_)), unit_);
  }

 private:
  // Units due before `t`, at most `duration_`.
  Wide count(std::uint64_t t) const noexcept { return t * (Wide{from_} * (2 * duration_ - t) + Wide{to_} * t); }

  // From the end with the lower rate, where the sum below the root loses nothing.
  std::uint64_t guess(std::uint64_t n, Wide units) const noexcept {
    if (from_ <= to_) return static_cast<std::uint64_t>(time_for(static_cast<double>(n), first_rate_));
    const double left = static_cast<double>(all_ - units) / static_cast<double>(unit_);
    const double time = std::min(time_for(left, last_rate_), static_cast<double>(duration_));
    return duration_ - std::min(static_cast<std::uint64_t>(time), duration_);
  }

  // How long `hits` > 0 take at a rate that begins with `rate` and rises.
  double time_for(double hits, double rate) const noexcept {
    return 2 * hits / (rate + std::sqrt(rate * rate + twice_slope_ * hits));
  }

  std::uint64_t from_;
  std::uint64_t to_;
  std::uint64_t duration_;
  Wide unit_;           // units of a hit
  Wide all_;            // units of the whole schedule
  std::uint64_t hits_;  // of the whole schedule
  double first_rate_;   // hits a nanosecond
  double last_rate_;
  double twice_slope_;  // of the rate, without its sign
};

}  // namespace

Expected<Load> make_linear_load(const LoadFlags& flags) {
  if (!flags.rate_to) return Error{"-pacer=linear needs -rate-to, the rate at the end"};
  if (flags.duration.value_or(Nanos{0}) <= Nanos{0})
    return Error{"-pacer=linear needs a -duration above 0, in which the rate gets to -rate-to"};
  const Rate rates[] = {flags.rate, *flags.rate_to};
  if (rates[0].hits == 0 && rates[1].hits == 0) return Error{"-rate and -rate-to are both 0: nothing would be sent"};
  const auto duration = static_cast<std::uint64_t>(flags.duration->count());
  const auto common = over_common_denominator(rates);
  Wide most = common ? Wide{common->units[0]} + common->units[1] : 0;
  if (!common || __builtin_mul_overflow(most, Wide{duration} * duration, &most)) {
    return Error{fmt::format("-rate={} to -rate-to={} in {} is too fine or too long to be exact: take rounder rates",
                             format_rate(rates[0]), format_rate(rates[1]), format_duration(*flags.duration))};
  }
  Load load{.pacer = std::make_unique<LinearPacer>(common->units[0], common->units[1], common->per, duration),
            .duration = *flags.duration,
            .rate = {},
            .shape = fmt::format("linear, {} to {}", format_rate(rates[0]), format_rate(rates[1]))};
  load.rate = average_rate(*load.pacer, load.duration, *flags.rate_to);
  return load;
}

}  // namespace pepe
