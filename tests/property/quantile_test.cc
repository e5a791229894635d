#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <random>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "pepe/metrics/metrics.h"

namespace pepe {
namespace {

using Draw = std::function<std::int64_t(std::mt19937_64&)>;

struct Distribution {
  const char* name;
  Draw draw;
};

const Distribution kDistributions[] = {
    {"LogNormal",
     [](auto& random) {
       return static_cast<std::int64_t>(std::lognormal_distribution<double>{13, 1}(random));
     }},
    {"TwoPeaks",
     [](auto& random) {
       return static_cast<std::int64_t>((random() % 10 == 0 ? 2'000'000'000 : 1'000'000) + random() % 1000);
     }},
    {"FewValues", [](auto& random) { return static_cast<std::int64_t>(1000 * (random() % 5)); }},
    {"AnyMagnitude", [](auto& random) { return static_cast<std::int64_t>(random() >> (1 + random() % 63)); }},
};

constexpr double kQuantiles[] = {0, 0.001, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999, 0.9999, 1};

// Hazen's rule, written down as plainly as it can be.
long double hazen(const std::vector<std::int64_t>& sorted, double q) {
  const double position = q * static_cast<double>(sorted.size()) - 0.5;
  if (position <= 0) return static_cast<long double>(sorted.front());
  if (position >= static_cast<double>(sorted.size() - 1)) return static_cast<long double>(sorted.back());
  const auto low = static_cast<std::size_t>(position);
  const auto part = static_cast<long double>(position - std::floor(position));
  return static_cast<long double>(sorted[low]) * (1 - part) + static_cast<long double>(sorted[low + 1]) * part;
}

void expect_within(const Distribution& distribution, std::size_t count, std::uint64_t seed, long double relative) {
  std::mt19937_64 random{seed};
  Metrics metrics;
  std::vector<std::int64_t> latencies(count);
  for (std::int64_t& latency : latencies) {
    latency = distribution.draw(random);
    Result result;
    result.latency = Nanos{latency};
    metrics.add(result);
  }
  std::sort(latencies.begin(), latencies.end());
  std::vector<double> quantiles{std::begin(kQuantiles), std::end(kQuantiles)};
  for (int i = 0; i < 20; ++i) quantiles.push_back(static_cast<double>(random() % 1'000'001) / 1e6);
  for (const double q : quantiles) {
    SCOPED_TRACE(fmt::format("{} count {} seed {} quantile {}", distribution.name, count, seed, q));
    const long double want = hazen(latencies, q);
    // Cutting the fraction of a nanosecond, and the one bit that a double is short of, come on top.
    const long double slack = 1 + std::ldexp(want, -52);
    const auto have = static_cast<long double>(metrics.quantile(q).count());
    EXPECT_LE(std::fabs(have - want), want * relative + slack) << have << " for " << want;
  }
}

TEST(Quantiles, AreHazensForAnyNumberOfResultsUpToAMillion) {
  for (const Distribution& distribution : kDistributions) {
    for (const std::size_t count : {1U, 2U, 3U, 10U, 11U, 100U, 1000U, 10'000U}) {
      for (std::uint64_t seed = 0; seed < 5; ++seed) expect_within(distribution, count, seed, 0);
    }
  }
}

TEST(Quantiles, AreWithinAThousandthBeyondAMillion) {
  for (const Distribution& distribution : kDistributions) expect_within(distribution, 1'000'001, 1, 0.001L);
}

TEST(Quantiles, NeverDecreaseInQ) {
  for (const Distribution& distribution : kDistributions) {
    std::mt19937_64 random{7};
    Metrics metrics;
    for (int i = 0; i < 3000; ++i) {
      Result result;
      result.latency = Nanos{distribution.draw(random)};
      metrics.add(result);
    }
    Nanos before = metrics.quantile(0);
    for (int i = 1; i <= 997; ++i) {
      const Nanos now = metrics.quantile(i / 997.0);
      EXPECT_LE(before, now) << distribution.name << " at " << i;
      before = now;
    }
  }
}

}  // namespace
}  // namespace pepe
