#include "metrics/quantile.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace pepe {
namespace {

struct QuantileCase {
  const char* name;
  std::vector<std::int64_t> latencies;
  double q;
  std::int64_t want;
};

const QuantileCase kCases[] = {
    {"None", {}, 0.5, 0},
    {"One", {7}, 0.99, 7},
    {"MedianOfTwoIsTheirMean", {300, 100}, 0.5, 200},
    {"MedianOfThreeIsTheSecond", {3, 1, 2}, 0.5, 2},
    {"NinetiethOfTenIsBetweenNinthAndTenth", {10, 1, 9, 2, 8, 3, 7, 4, 6, 50}, 0.9, 30},
    {"TruncatedToWholeNanoseconds", {1, 2}, 0.5, 1},
    {"ZeroIsTheLowest", {5, 3, 4}, 0, 3},
    {"OneIsTheHighest", {5, 3, 4}, 1, 5},
    {"NearTheEndsTheOutermostCounts", {5, 3, 4}, 0.1, 3},
    {"LatenciesAboveWhatADoubleHolds", {9007199254740993, 9007199254740993, 9007199254740993}, 0.5, 9007199254740993},
    {"TheWidestGap", {INT64_MIN, INT64_MAX}, 0.5, -1},
    {"Negative", {-10, -20, -30}, 0.5, -20},
};

TEST(Quantiles, FollowHazensRule) {
  for (const QuantileCase& row : kCases) {
    SCOPED_TRACE(row.name);
    Quantiles quantiles{1000};
    for (const std::int64_t latency : row.latencies) quantiles.add(latency);
    // The gap of the widest case is 2^64 - 1, which a double rounds up to 2^64.
    EXPECT_NEAR(static_cast<double>(quantiles.at(row.q)), static_cast<double>(row.want), row.want == -1 ? 1 : 0);
  }
}

TEST(Quantiles, KnowWhereTheLatencyOfARankMayLie) {
  for (const std::size_t limit : {1000U, 10U}) {
    Quantiles quantiles{limit};
    std::vector<std::int64_t> latencies{INT64_MIN, INT64_MIN + 1, -5'000'000, -1,        0,
                                        1,         1023,          1025,       9'999'999, INT64_MAX};
    for (std::int64_t i = 0; i < 100; ++i) latencies.push_back(i * i * 1'000'003);
    for (const std::int64_t latency : latencies) quantiles.add(latency);
    std::sort(latencies.begin(), latencies.end());
    for (std::size_t rank = 0; rank < latencies.size(); ++rank) {
      SCOPED_TRACE(rank);
      const auto [least, most] = quantiles.range_at(rank);
      EXPECT_LE(least, latencies[rank]);
      EXPECT_GE(most, latencies[rank]);
      EXPECT_TRUE(least == most || limit < latencies.size());
      EXPECT_LE(static_cast<double>(most) - static_cast<double>(least),
                std::fabs(static_cast<double>(latencies[rank])) / 512);
    }
  }
}

TEST(Quantiles, StayRightWhenMoreIsAddedAfterAQuestion) {
  Quantiles quantiles{1000};
  for (std::int64_t latency = 99; latency >= 0; --latency) quantiles.add(latency);
  EXPECT_EQ(quantiles.at(0.5), 49);
  EXPECT_EQ(quantiles.at(0.25), 24);
  for (std::int64_t latency = 0; latency < 300; ++latency) quantiles.add(-1);
  EXPECT_EQ(quantiles.at(0.5), -1);
  EXPECT_EQ(quantiles.at(0.995), 97);
}

TEST(Quantiles, AreExactUpToTheLimitAndCloseBeyond) {
  constexpr std::int64_t n = 100'000;
  Quantiles quantiles{n};
  for (std::int64_t i = 0; i < n; ++i) quantiles.add(i * 7919 % n * 1000);
  EXPECT_EQ(quantiles.at(0.5), n * 500 - 500);
  quantiles.add(n * 1000);
  EXPECT_EQ(quantiles.count(), static_cast<std::uint64_t>(n) + 1);
  EXPECT_NEAR(static_cast<double>(quantiles.at(0.5)), static_cast<double>(n * 500),
              static_cast<double>(n * 500) / 1024);
  EXPECT_EQ(quantiles.at(0), 0);
  EXPECT_EQ(quantiles.at(1), n * 1000);
}

TEST(LogLinearCounts, FindValuesOfEverySizeWithinTheirBound) {
  for (const std::int64_t value : {std::int64_t{0}, std::int64_t{1}, std::int64_t{1023}, std::int64_t{1024},
                                   std::int64_t{1025}, std::int64_t{123'456'789}, std::int64_t{1} << 62, INT64_MAX,
                                   std::int64_t{-5}, std::int64_t{-123'456'789}, INT64_MIN}) {
    SCOPED_TRACE(value);
    LogLinearCounts counts;
    counts.add(value);
    const auto want = static_cast<double>(value);
    EXPECT_NEAR(static_cast<double>(counts.at(0)), want, std::abs(want) / 1024);
  }
}

TEST(LogLinearCounts, OrderNegativeValuesBelowTheOthers) {
  LogLinearCounts counts;
  for (const std::int64_t value : {5, -7, 0, -3, 900}) counts.add(value);
  std::vector<std::int64_t> sorted;
  for (std::uint64_t rank = 0; rank < 5; ++rank) sorted.push_back(counts.at(rank));
  EXPECT_EQ(sorted, (std::vector<std::int64_t>{-7, -3, 0, 5, 900}));
}

}  // namespace
}  // namespace pepe
