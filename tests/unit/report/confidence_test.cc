#include "report/confidence.h"

#include <cmath>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace pepe {
namespace {

struct RanksCase {
  const char* name;
  double q;
  std::uint64_t count;
  std::int64_t low;  ///< -1: too few.
  std::int64_t high;
};

// Of tables of the sign test, and of the powers that say when the outermost latency is enough.
constexpr RanksCase kRanks[] = {
    {"None", 0.5, 0, -1, -1},
    {"One", 0.5, 1, -1, -1},
    {"FiveAreTooFewForAMedian", 0.5, 5, -1, -1},
    {"SixAreEnough", 0.5, 6, 0, 5},
    {"TenForAMedian", 0.5, 10, 1, 8},
    {"AHundredForAMedian", 0.5, 100, 39, 60},
    {"TooFewForThe99th", 0.99, 367, -1, -1},
    {"EnoughForThe99th", 0.99, 368, 359, 367},
    {"EnoughForThe1st", 0.01, 368, 0, 8},
    {"TooFewForThe999th", 0.999, 3687, -1, -1},
    {"TheLeastHasNoInterval", 0, 1'000'000, -1, -1},
    {"TheLargestHasNoInterval", 1, 1'000'000, -1, -1},
    {"NearlyTheLargest", 1 - 1e-15, 1'000'000, -1, -1},
    {"ManyForAMedian", 0.5, 10'000'000, 4'996'900, 5'003'099},
};

TEST(QuantileRanks, AreThoseOfTheBinomialDistribution) {
  for (const RanksCase& row : kRanks) {
    SCOPED_TRACE(row.name);
    const auto ranks = quantile_ranks(row.q, row.count);
    ASSERT_EQ(ranks.has_value(), row.low >= 0);
    if (!ranks) continue;
    EXPECT_EQ(static_cast<std::int64_t>(ranks->first), row.low);
    EXPECT_EQ(static_cast<std::int64_t>(ranks->second), row.high);
  }
}

// The chance of exactly k out of n, from logarithms.
double chance_of(std::uint64_t k, std::uint64_t n, double q) {
  const auto a = static_cast<double>(k);
  const auto b = static_cast<double>(n);
  return std::exp(std::lgamma(b + 1) - std::lgamma(a + 1) - std::lgamma(b - a + 1) + a * std::log(q) +
                  (b - a) * std::log1p(-q));
}

TEST(QuantileRanks, LeaveAFortiethOnEachSideAndNoMoreThanTheyMust) {
  for (const double q : {0.001, 0.1, 0.5, 0.75, 0.9, 0.99}) {
    for (const std::uint64_t n : {7U, 40U, 100U, 999U, 5000U}) {
      const auto ranks = quantile_ranks(q, n);
      if (!ranks) continue;
      SCOPED_TRACE(fmt::format("quantile {} of {}", q, n));
      double up_to_low = 0;
      for (std::uint64_t k = 0; k <= ranks->first; ++k) up_to_low += chance_of(k, n, q);
      double from_high = 0;
      for (std::uint64_t k = ranks->second + 1; k <= n; ++k) from_high += chance_of(k, n, q);
      EXPECT_LE(up_to_low, 0.025 + 1e-9);
      EXPECT_GT(up_to_low + chance_of(ranks->first + 1, n, q), 0.025 - 1e-9);
      EXPECT_LE(from_high, 0.025 + 1e-9);
      EXPECT_GT(from_high + chance_of(ranks->second, n, q), 0.025 - 1e-9);
    }
  }
}

MetricsSummary answers(std::uint64_t successes, std::uint64_t requests) {
  MetricsSummary summary;
  summary.requests = requests;
  summary.successes = successes;
  if (requests > 0) summary.success = static_cast<double>(successes) / static_cast<double>(requests);
  return summary;
}

struct RatioCase {
  const char* name;
  std::uint64_t base_successes, base, changed_successes, changed;
  double low, high;
};

// The differences and intervals that Newcombe (1998) works out as examples of his tenth method.
constexpr RatioCase kRatios[] = {
    {"a", 48, 80, 56, 70, 0.0524, 0.3339}, {"b", 3, 10, 9, 10, 0.1705, 0.8090},  {"c", 2, 7, 6, 7, 0.0582, 0.8062},
    {"d", 0, 29, 5, 56, -0.0381, 0.1926},  {"e", 0, 20, 0, 10, -0.1611, 0.2775}, {"f", 0, 10, 0, 10, -0.2775, 0.2775},
    {"g", 0, 20, 10, 10, 0.6791, 1.0000},  {"h", 0, 10, 10, 10, 0.6075, 1.0000},
};

TEST(SuccessDifference, HasNewcombesInterval) {
  for (const RatioCase& row : kRatios) {
    SCOPED_TRACE(row.name);
    const auto interval = difference(estimate_success(answers(row.base_successes, row.base)),
                                     estimate_success(answers(row.changed_successes, row.changed)));
    ASSERT_TRUE(interval);
    EXPECT_NEAR(interval->low, row.low, 0.00006);
    EXPECT_NEAR(interval->high, row.high, 0.00006);
  }
}

TEST(SuccessDifference, IsUnknownWithoutResults) {
  EXPECT_FALSE(difference(estimate_success(answers(0, 0)), estimate_success(answers(5, 5))));
  EXPECT_FALSE(difference(estimate_success(answers(5, 5)), estimate_success(answers(0, 0))));
}

Metrics some_latencies(std::mt19937_64& random, std::size_t count, double factor, MetricsLimits limits = {}) {
  std::lognormal_distribution<double> draw{13, 1};
  Metrics metrics{{}, limits};
  for (std::size_t i = 0; i < count; ++i) {
    Result result;
    result.latency = Nanos{static_cast<std::int64_t>(draw(random) * factor)};
    metrics.add(result);
  }
  return metrics;
}

TEST(QuantileDifference, HoldsTheTruthInNineteenOfTwenty) {
  std::mt19937_64 random{1};
  constexpr int kRounds = 400;
  for (const double q : {0.5, 0.9, 0.99}) {
    int held = 0;
    for (int i = 0; i < kRounds; ++i) {
      const Metrics base = some_latencies(random, 700, 1);
      const Metrics changed = some_latencies(random, 1000, 1);
      const auto interval = difference(estimate_quantile(base, q), estimate_quantile(changed, q));
      ASSERT_TRUE(interval);
      held += interval->low <= 0 && interval->high >= 0 ? 1 : 0;
    }
    // Three standard deviations of a count of 400 rounds below 95 %.
    EXPECT_GE(held, 367) << q;
  }
}

TEST(QuantileDifference, IsFoundWhereItIsLarge) {
  std::mt19937_64 random{2};
  const Metrics base = some_latencies(random, 5000, 1);
  const Metrics changed = some_latencies(random, 5000, 1.3);
  for (const double q : {0.5, 0.9}) {
    const auto interval = difference(estimate_quantile(base, q), estimate_quantile(changed, q));
    ASSERT_TRUE(interval);
    EXPECT_GT(interval->low, 0) << q;
  }
}

TEST(QuantileDifference, IsNoNarrowerWhereLatenciesAreCountedInSlots) {
  std::mt19937_64 random{3};
  std::mt19937_64 again{3};
  const Metrics exact = some_latencies(random, 5000, 1);
  const Metrics counted = some_latencies(again, 5000, 1, {.exact_latencies = 10, .error_bytes = 0});
  for (const double q : {0.5, 0.9, 0.99}) {
    const auto fine = estimate_quantile(exact, q).interval;
    const auto coarse = estimate_quantile(counted, q).interval;
    ASSERT_TRUE(fine && coarse);
    EXPECT_LE(coarse->low, fine->low);
    EXPECT_GE(coarse->high, fine->high);
    EXPECT_NEAR(coarse->high, fine->high, fine->high / 500);
  }
}

}  // namespace
}  // namespace pepe
