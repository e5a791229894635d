#include "pepe/metrics/metrics.h"

#include <initializer_list>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace pepe {
namespace {

constexpr std::int64_t kStart = 1'700'000'000'000'000'000;

Result hit(std::int64_t offset, std::int64_t latency, std::uint16_t code = 200, std::string_view error = "") {
  Result result;
  result.timestamp = {kStart + offset, 0};
  result.latency = Nanos{latency};
  result.code = code;
  result.error = error;
  return result;
}

MetricsSummary summary_of(std::initializer_list<Result> results) {
  Metrics metrics;
  for (const Result& result : results) metrics.add(result);
  return metrics.summary();
}

TEST(Metrics, AreZeroWithoutResults) {
  const MetricsSummary m = Metrics{}.summary();
  EXPECT_EQ(m.requests, 0U);
  EXPECT_EQ(m.latency_max, Nanos{0});
  EXPECT_EQ(m.rate, 0);
  EXPECT_FALSE(m.earliest);
  EXPECT_EQ(Metrics{}.quantile(0.5), Nanos{0});
}

TEST(Metrics, CountALatencyThatIsNotTheResultsOwnAndLeaveItsTimesAlone) {
  Metrics metrics{{Nanos{0}, Nanos{50}}};
  metrics.add(hit(0, 10), Nanos{100});
  metrics.add(hit(5, 20), Nanos{60});
  const MetricsSummary m = metrics.summary();
  EXPECT_EQ(m.latency_total, Nanos{160});
  EXPECT_EQ(m.latency_max, Nanos{100});
  EXPECT_EQ(metrics.quantile(0.5), Nanos{80});
  EXPECT_EQ(metrics.bucket_counts()[1], 2U);
  EXPECT_EQ(m.wait, Nanos{20});
  EXPECT_EQ(m.duration, Nanos{5});
}

TEST(Metrics, TruncateTheMean) {
  const MetricsSummary m = summary_of({hit(0, 3), hit(0, 3), hit(0, 5)});
  EXPECT_EQ(m.latency_total, Nanos{11});
  EXPECT_EQ(m.latency_mean, Nanos{3});
}

TEST(Metrics, CountSuccessByCodeWhateverTheError) {
  const MetricsSummary m =
      summary_of({hit(0, 5, 200, "odd"), hit(1, 5, 399), hit(2, 5, 199), hit(3, 5, 400), hit(4, 5, 0)});
  EXPECT_EQ(m.successes, 2U);
  EXPECT_DOUBLE_EQ(m.success, 0.4);
}

TEST(Metrics, CountEveryCode) {
  const MetricsSummary m =
      summary_of({hit(0, 1, 0), hit(0, 1, 200), hit(0, 1, 1023), hit(0, 1, 1024), hit(0, 1, 65535), hit(0, 1, 65535)});
  const std::map<std::uint16_t, std::uint64_t> want = {{0, 1}, {200, 1}, {1023, 1}, {1024, 1}, {65535, 2}};
  EXPECT_EQ(m.status_codes, want);
}

TEST(Metrics, GiveThePlainCountsForADurationOfZero) {
  const MetricsSummary m = summary_of({hit(0, 10), hit(0, 20), hit(0, 30, 500)});
  EXPECT_EQ(m.rate, 3);
  EXPECT_EQ(m.throughput, 2);
  EXPECT_EQ(m.duration, Nanos{0});
  EXPECT_EQ(m.wait, Nanos{30});
}

TEST(Metrics, TakeTheLatestEndWhateverTheOrder) {
  const MetricsSummary m = summary_of({hit(1'000'000'000, 1000), hit(0, 5'000'000'000)});
  EXPECT_EQ(m.duration, Nanos{1'000'000'000});
  EXPECT_EQ(m.wait, Nanos{4'000'000'000});
  EXPECT_EQ(m.rate, 2);
  EXPECT_DOUBLE_EQ(m.throughput, 0.4);
}

TEST(Metrics, KeepTheZoneOfTheTimesTheyShow) {
  Result east = hit(5, 10);
  east.timestamp.zone_minutes = 120;
  const MetricsSummary m = summary_of({hit(0, 1), east});
  EXPECT_EQ(m.earliest->zone_minutes, 0);
  EXPECT_EQ(m.latest->zone_minutes, 120);
  EXPECT_EQ(m.end->zone_minutes, 120);
}

TEST(Metrics, LeaveResultsWithoutATimeOutOfTheDuration) {
  Result timeless = hit(0, 7);
  timeless.timestamp.unix_nanos = kZeroTime;
  const MetricsSummary m = summary_of({timeless, hit(0, 1), hit(10, 1), timeless});
  EXPECT_EQ(m.requests, 4U);
  EXPECT_EQ(m.duration, Nanos{10});
}

struct MinimumCase {
  const char* name;
  std::vector<std::int64_t> latencies;
  std::int64_t want;
};

const MinimumCase kMinimumCases[] = {
    {"Lowest", {3, 1, 2}, 1},
    {"AFirstZeroStays", {0, 5, 3, 4}, 0},
    {"ALaterZeroGivesWay", {5, 1, 0, 9, 7}, 7},
    {"ALastZeroStays", {5, 0}, 0},
};

TEST(Metrics, HaveVegetasMinimum) {
  for (const MinimumCase& row : kMinimumCases) {
    SCOPED_TRACE(row.name);
    Metrics metrics;
    for (const std::int64_t latency : row.latencies) metrics.add(hit(0, latency));
    EXPECT_EQ(metrics.summary().latency_min, Nanos{row.want});
  }
}

TEST(Metrics, SaturateInsteadOfWrappingAround) {
  Result first = hit(0, INT64_MAX);
  first.timestamp.unix_nanos = INT64_MIN;
  first.bytes_in = UINT64_MAX;
  Result second = hit(0, INT64_MAX);
  second.timestamp.unix_nanos = INT64_MAX;
  second.bytes_in = 1;
  const MetricsSummary m = summary_of({first, second});
  EXPECT_EQ(m.latency_total, Nanos::max());
  EXPECT_EQ(m.duration, Nanos::max());
  EXPECT_EQ(m.end->unix_nanos, INT64_MAX);
  EXPECT_EQ(m.bytes_in_total, UINT64_MAX);
  EXPECT_GT(m.rate, 0);
}

TEST(Metrics, KnowTheMeanAndTheWaitWhereSumsSaturate) {
  constexpr std::int64_t kLong = INT64_MAX / 2 + 2;
  constexpr std::int64_t kLate = INT64_MAX - 1000 - kStart;
  const MetricsSummary m = summary_of({hit(kLate, kLong), hit(kLate, kLong), hit(kLate, 0)});
  EXPECT_EQ(m.latency_total, Nanos::max());
  EXPECT_NEAR(static_cast<double>(m.latency_mean.count()), static_cast<double>(kLong) / 3 * 2, 1e4);
  EXPECT_EQ(m.wait, Nanos{kLong});
  EXPECT_EQ(summary_of({hit(0, INT64_MAX), hit(0, INT64_MAX)}).latency_mean, Nanos::max());
}

TEST(Metrics, CountBucketsOnlyWhenAskedTo) {
  Metrics plain;
  plain.add(hit(0, 5));
  EXPECT_TRUE(plain.bucket_counts().empty());
  Metrics with_buckets{{Nanos{0}, Nanos{10}}};
  with_buckets.add(hit(0, 5));
  with_buckets.add(hit(0, 10));
  EXPECT_EQ(with_buckets.bucket_counts(), (std::vector<std::uint64_t>{1, 1}));
}

TEST(Metrics, KeepTheLastFactsOfEachRun) {
  Metrics metrics;
  RunFacts facts;
  for (const auto& [id, sent] : {std::pair{1U, 0U}, {2U, 0U}, {1U, 10U}, {2U, 20U}}) {
    facts.run_id = id;
    facts.sent = sent;
    metrics.add(facts);
  }
  ASSERT_EQ(metrics.runs().size(), 2U);
  EXPECT_EQ(metrics.runs()[0].sent, 10U);
  EXPECT_EQ(metrics.runs()[1].sent, 20U);
}

TEST(Metrics, BoundWhatTheFactsOfRunsTakeUp) {
  Metrics metrics;
  RunFacts facts;
  facts.flags = {std::string(100'000, 'x')};
  for (facts.run_id = 0; facts.run_id < 1000; ++facts.run_id) metrics.add(facts);
  EXPECT_GE(metrics.runs().size(), 10U);
  EXPECT_LE(metrics.runs().size(), 100U);
}

}  // namespace
}  // namespace pepe
