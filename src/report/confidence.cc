#include "report/confidence.h"

#include <algorithm>
#include <cmath>

namespace pepe {
namespace {

/// Beyond each end of an interval.
constexpr double kTail = 0.025;
/// Of the normal distribution, what kTail is left above.
constexpr double kDeviations = 1.959963984540054;

/// The chances of each number of hits below a quantile: binomial, as multiples of that of the likeliest number.
class Binomial {
 public:
  /// REQUIRES: 0 < q < 1.
  Binomial(double q, std::uint64_t count) : odds_{q / (1 - q)}, count_{static_cast<double>(count)} {
    mode_ = std::min(std::floor((count_ + 1) * q), count_);
    // What is left out adds up to nothing that a double could show.
    constexpr double kNothing = 1e-20;
    double chance = 1;
    for (double k = mode_; chance > kNothing; --k) up_to_mode_ += std::exchange(chance, chance * step_down(k));
    chance = step_up(mode_);
    for (double k = mode_ + 1; chance > kNothing; ++k) beyond_ += std::exchange(chance, chance * step_up(k));
  }

  /// The largest number that, with all below it, has at most the chance kTail; -1: there is none.
  double low_end() const {
    double left = up_to_mode_;
    double chance = 1;
    double k = mode_;
    for (; k >= 0 && left > tail(); --k) left -= std::exchange(chance, chance * step_down(k));
    return k;
  }
  /// The least number that, with all above it, has at most the chance kTail; count + 1: there is none below.
  double high_end() const {
    double left = beyond_;
    double k = mode_ + 1;
    double chance = step_up(mode_);
    for (; k <= count_ && left > tail(); ++k) left -= std::exchange(chance, chance * step_up(k));
    return k;
  }

 private:
  double tail() const { return kTail * (up_to_mode_ + beyond_); }
  double step_down(double k) const { return k / ((count_ - k + 1) * odds_); }
  double step_up(double k) const { return (count_ - k) * odds_ / (k + 1); }

  double odds_;
  double count_;
  double mode_{0};
  double up_to_mode_{0};
  double beyond_{0};
};

double squared(double value) { return value * value; }

}  // namespace

std::optional<std::pair<std::uint64_t, std::uint64_t>> quantile_ranks(double q, std::uint64_t count) {
  if (count == 0 || !(q > 0 && q < 1)) return std::nullopt;
  const Binomial below{q, count};
  const double low = below.low_end();
  const double high = below.high_end();
  if (low < 0 || high > static_cast<double>(count)) return std::nullopt;
  // `high` hits below the quantile and no more: it is not above the latency of that number, counted from 1.
  return std::pair{static_cast<std::uint64_t>(low), static_cast<std::uint64_t>(high) - 1};
}

Estimate estimate_quantile(const Metrics& metrics, double q) {
  Estimate estimate{static_cast<double>(metrics.quantile(q).count()), std::nullopt};
  const auto ranks = quantile_ranks(q, metrics.count());
  if (!ranks) return estimate;
  const auto low = static_cast<double>(metrics.ranked(ranks->first).first.count());
  const auto high = static_cast<double>(metrics.ranked(ranks->second).second.count());
  estimate.interval = Interval{std::min(low, estimate.value), std::max(high, estimate.value)};
  return estimate;
}

Estimate estimate_success(const MetricsSummary& summary) {
  Estimate estimate{summary.success, std::nullopt};
  if (summary.requests == 0) return estimate;
  const auto count = static_cast<double>(summary.requests);
  const double square = squared(kDeviations);
  const double middle = (summary.success + square / (2 * count)) / (1 + square / count);
  const double spread = summary.success * (1 - summary.success) / count + square / (4 * squared(count));
  const double half = kDeviations * std::sqrt(spread) / (1 + square / count);
  estimate.interval =
      Interval{std::clamp(middle - half, 0.0, summary.success), std::clamp(middle + half, summary.success, 1.0)};
  return estimate;
}

std::optional<Interval> difference(const Estimate& base, const Estimate& changed) {
  if (!base.interval || !changed.interval) return std::nullopt;
  const double middle = changed.value - base.value;
  const double below = squared(changed.value - changed.interval->low) + squared(base.interval->high - base.value);
  const double above = squared(changed.interval->high - changed.value) + squared(base.value - base.interval->low);
  return Interval{middle - std::sqrt(below), middle + std::sqrt(above)};
}

}  // namespace pepe
