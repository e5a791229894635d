#include "plot/series.h"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace pepe {
namespace {

constexpr std::int64_t kStart = 1'700'000'000'000'000'000;

Result hit(std::string_view attack, std::uint64_t seq, std::int64_t offset, std::string_view error = "") {
  Result result;
  result.attack = attack;
  result.seq = seq;
  result.timestamp.unix_nanos = kStart + offset;
  result.latency = Nanos{offset + 1};
  result.error = error;
  return result;
}

std::vector<std::string> labels_of(const std::vector<Series>& series) {
  std::vector<std::string> labels;
  for (const Series& one : series) labels.push_back(one.label);
  return labels;
}

TEST(SeriesGatherer, MakesASeriesOfEachAttackAndOutcome) {
  SeriesGatherer gatherer{0};
  gatherer.add(hit("right", 0, 0));
  gatherer.add(hit("left", 0, 5));
  gatherer.add(hit("right", 1, 2, "EOF"));
  gatherer.add(hit("", 0, 0));
  EXPECT_EQ(labels_of(gatherer.take()), (std::vector<std::string>{": OK", "left: OK", "right: ERROR", "right: OK"}));
}

TEST(SeriesGatherer, CountsSecondsFromTheFirstHitWhereverItStands) {
  SeriesGatherer gatherer{0};
  gatherer.add(hit("a", 2, 30));
  gatherer.add(hit("a", 0, 10));
  gatherer.add(hit("a", 1, 5));
  const std::vector<Series> series = gatherer.take();
  EXPECT_EQ(series[0].start, kStart + 10);
  EXPECT_EQ(series[0].points.front().time, kStart + 5);
}

TEST(SeriesGatherer, CountsSecondsFromTheEarliestHitWhereTheFirstIsMissing) {
  SeriesGatherer gatherer{0};
  gatherer.add(hit("a", 7, 30));
  gatherer.add(hit("a", 9, 10));
  EXPECT_EQ(gatherer.take()[0].start, kStart + 10);
}

TEST(SeriesGatherer, KeepsBothRunsOfOneName) {
  SeriesGatherer gatherer{4000};
  for (int run = 0; run < 2; ++run) {
    for (std::uint64_t seq = 0; seq < 45; ++seq) gatherer.add(hit("a", seq, static_cast<std::int64_t>(seq) * 10));
  }
  const std::vector<Series> series = gatherer.take();
  ASSERT_EQ(series.size(), 1U);
  EXPECT_EQ(series[0].points.size(), 90U);
}

TEST(SeriesGatherer, HoldsFewPointsOfManyResultsAndTheHighestOfThem) {
  SeriesGatherer gatherer{4000};
  for (std::uint64_t i = 0; i < 1'000'000; ++i) {
    Result result = hit("a", i, static_cast<std::int64_t>(i) * 1000);
    result.latency = Nanos{i == 777'777 ? 5'000'000'000 : 1'000'000 + static_cast<std::int64_t>(i % 97)};
    gatherer.add(result);
  }
  const std::vector<Series> series = gatherer.take();
  EXPECT_EQ(series[0].hits, 1'000'000U);
  EXPECT_GT(series[0].points.size(), 8000U);
  EXPECT_LT(series[0].points.size(), 400'000U);
  EXPECT_NE(std::find(series[0].points.begin(), series[0].points.end(), PlotPoint{kStart + 777'777'000, 5'000'000'000}),
            series[0].points.end());
}

TEST(SeriesGatherer, HoldsAllPointsWithoutAThreshold) {
  SeriesGatherer gatherer{0};
  for (std::uint64_t i = 0; i < 600'000; ++i) gatherer.add(hit("a", i, static_cast<std::int64_t>(i)));
  EXPECT_EQ(gatherer.take()[0].points.size(), 600'000U);
}

TEST(SeriesGatherer, BoundsTheNumberOfAttacksAndTheirNames) {
  SeriesGatherer gatherer{4000};
  for (int i = 0; i < 5000; ++i) gatherer.add(hit(fmt::format("{}{}", i, std::string(2000, 'x')), 0, i));
  const std::vector<Series> series = gatherer.take();
  EXPECT_LE(series.size(), 502U);
  std::uint64_t hits = 0;
  for (const Series& one : series) {
    EXPECT_LE(one.label.size(), 300U);
    hits += one.hits;
  }
  EXPECT_EQ(hits, 5000U);
}

}  // namespace
}  // namespace pepe
