#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "pepe/metrics/metrics.h"

namespace pepe {

/// A confidence interval: 95 of 100 hold the true figure, as long as results do not depend on each other.
struct Interval {
  double low{0};
  double high{0};
};

/// A figure and how sure it is. Without an interval: there are too few results to say.
struct Estimate {
  double value{0};
  std::optional<Interval> interval;
};

/// The ranks, from 0, of the two latencies out of `count` in ascending order that quantile `q` of what they were drawn
/// from lies between. From the binomial distribution alone, whatever that of the latencies. nullopt: there are too few.
std::optional<std::pair<std::uint64_t, std::uint64_t>> quantile_ranks(double q, std::uint64_t count);

Estimate estimate_quantile(const Metrics& metrics, double q);
/// Wilson's interval of the success ratio.
Estimate estimate_success(const MetricsSummary& summary);

/// Of `changed - base`: the distances of the bounds from their figures are added up as squares (Newcombe's method).
std::optional<Interval> difference(const Estimate& base, const Estimate& changed);

}  // namespace pepe
