// HOT: due() once per hit. No allocation, lock, log or wall clock.
#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "pacer/integer_schedule.h"
#include "pacer/shapes.h"
#include "pacer/versine.h"

namespace pepe {
namespace {

/// How finely a period is counted: in 2^knots parts, and fractions of 2^-bits of a unit.
struct Resolution {
  unsigned bits{0};
  unsigned knots{0};
};

/// The rate is mean + amplitude * sin(2 pi t / period). Its integral within a period T,
///
///     mean * t + amplitude * T * (1 - cos(2 pi t / T)) / (2 pi)
///
/// is taken at 2^knots points, and between two of them is a straight line: less than a quarter of a hit away from the
/// curve. Whole periods are exact, so nothing adds up. All of it is in whole numbers of units, of which `per` are a
/// hit.
///
/// The count of units never decreases. From one knot to the next the curve gains at least
/// amplitude * T * (2 pi)^3 / (12 pi 2^(3 knots)), in the hollow of a rate that comes down to 0; with
/// 3 knots + 2 <= bits that is 26 times the fraction that a unit is counted in, and a versine is off by 3 of them at
/// most.
class SinePacer final : public Pacer {
 public:
  /// REQUIRES: 0 < mean, amplitude <= mean, 0 < period, (mean + amplitude) * period < 2^(127 - bits).
  SinePacer(std::uint64_t mean, std::uint64_t amplitude, std::uint64_t per, std::uint64_t period,
            Resolution resolution) noexcept
      : mean_{mean},
        amplitude_{amplitude},
        per_{per},
        period_{period},
        bits_{resolution.bits},
        knots_{resolution.knots},
        knot_mean_{Wide{mean} << (bits_ - knots_)},
        period_units_{Wide{mean} * period} {}

  std::optional<Nanos> due(std::uint64_t n) const noexcept override {
    const Wide units = Wide{n} * per_;
    const Wide periods = units / period_units_;
    const Wide wanted = (units - periods * period_units_) << bits_;
    const std::uint64_t low = last_knot(wanted / period_);
    const Wide here = knot(low);
    // How far beyond the knot, in parts of 1/period of the way to the next.
    const Wide beyond = (wanted - here * period_) / (knot(low + 1) - here);
    const Wide offset = periods * period_ + ((Wide{low} * period_ + beyond) >> knots_);
    if (periods > kLastOffset || offset > kLastOffset) return std::nullopt;
    return Nanos{static_cast<std::int64_t>(offset)};
  }

  std::uint64_t hits_before(Nanos offset) const noexcept override {
    if (offset.count() <= 0) return 0;
    const auto at = static_cast<std::uint64_t>(offset.count());
    const Wide phase = Wide{at % period_} << knots_;
    const auto low = static_cast<std::uint64_t>(phase / period_);
    const Wide here = knot(low);
    const Wide fine = here * period_ + (phase - Wide{low} * period_) * (knot(low + 1) - here);
    const Wide units = (fine + (Wide{1} << bits_) - 1) >> bits_;
    return whole_hits(Wide{mean_} * (at - at % period_) + units, per_);
  }

 private:
  // What is due before knot `i` of a period of one nanosecond, in fractions of a unit: times the period it is what is
  // due before that knot.
  Wide knot(std::uint64_t i) const noexcept {
    const std::uint64_t swing = versine(i << (kTurnBits - knots_)) >> (62 - bits_);
    return i * knot_mean_ + Wide{amplitude_} * swing;
  }

  // The last knot that is at most `value`. Newton's method, which finds it in some four turns; where the rate is next
  // to nothing it hardly gets on, so that in between what is left is halved.
  std::uint64_t last_knot(Wide value) const noexcept {
    std::uint64_t low = 0;
    std::uint64_t high = std::uint64_t{1} << knots_;
    auto i = std::min(static_cast<std::uint64_t>(value / knot_mean_), high - 1);
    for (unsigned turn = 1;; ++turn) {
      const Wide here = knot(i);
      const Wide next = knot(i + 1);
      if (here <= value && value < next) return i;
      const bool below = here <= value;
      (below ? low : high) = below ? i + 1 : i;
      const double away = below ? static_cast<double>(value - here) : -static_cast<double>(here - value);
      const double guess = static_cast<double>(i) + away / static_cast<double>(next - here);
      const bool inside = guess >= static_cast<double>(low) && guess < static_cast<double>(high);
      i = inside && turn % 4 != 0 ? static_cast<std::uint64_t>(guess) : low + (high - low) / 2;
    }
  }

  std::uint64_t mean_;  // units a nanosecond
  std::uint64_t amplitude_;
  std::uint64_t per_;  // units of a hit
  std::uint64_t period_;
  unsigned bits_;
  unsigned knots_;
  Wide knot_mean_;     // what the mean alone brings from one knot to the next
  Wide period_units_;  // units of a whole period
};

// The finest that 128 bits hold. nullopt: it would be off by more than a quarter of a hit.
std::optional<Resolution> finest_resolution(std::uint64_t mean, std::uint64_t amplitude, std::uint64_t per,
                                            std::uint64_t period) {
  constexpr unsigned kMostBits = 62;
  constexpr unsigned kFewestBits = 32;
  Resolution resolution{.bits = kMostBits};
  const Wide most = Wide{mean} + amplitude;
  while (resolution.bits >= kFewestBits && most > ((Wide{1} << (127 - resolution.bits)) - 1) / period)
    --resolution.bits;
  if (resolution.bits < kFewestBits) return std::nullopt;
  resolution.knots = (resolution.bits - 2) / 3;
  // A straight line is off by pi / 4 * (amplitude * period) / 4^knots.
  const Wide swing = Wide{amplitude} * period / per;
  if (swing > (Wide{1} << (2 * resolution.knots)) / 4) return std::nullopt;
  return resolution;
}

}  // namespace

Expected<Load> make_sine_load(const LoadFlags& flags) {
  if (!flags.amplitude) return Error{"-pacer=sine needs -amplitude, how far the rate goes up and down from -rate"};
  if (flags.period.value_or(Nanos{0}) <= Nanos{0})
    return Error{"-pacer=sine needs a -period above 0, the time from one peak to the next"};
  const Rate rates[] = {flags.rate, *flags.amplitude};
  if (rates[0].hits == 0) return Error{"-rate=0 leaves -pacer=sine nothing to go up and down from"};
  const auto common = over_common_denominator(rates);
  if (common && common->units[1] > common->units[0]) {
    return Error{fmt::format("-amplitude={} is more than -rate={}: the rate would go below 0", format_rate(rates[1]),
                             format_rate(rates[0]))};
  }
  const auto period = static_cast<std::uint64_t>(flags.period->count());
  std::optional<Resolution> resolution;
  if (common) resolution = finest_resolution(common->units[0], common->units[1], common->per, period);
  if (!resolution) {
    return Error{fmt::format(
        "-rate={} with -amplitude={} and -period={} is too fine or too long to be exact: take rounder rates",
        format_rate(rates[0]), format_rate(rates[1]), format_duration(*flags.period))};
  }
  Load load{.pacer = std::make_unique<SinePacer>(common->units[0], common->units[1], common->per, period, *resolution),
            .duration = flags.duration.value_or(Nanos{0}),
            .rate = {},
            .shape = fmt::format("sine, {} and {} up and down in {}", format_rate(rates[0]), format_rate(rates[1]),
                                 format_duration(*flags.period))};
  load.rate = average_rate(*load.pacer, load.duration, flags.rate);
  return load;
}

}  // namespace pepe
