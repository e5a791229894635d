#include "plot/rows.h"

#include <algorithm>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace pepe {
namespace {

constexpr std::int64_t kMilli = 1'000'000;

Series series_of(std::vector<PlotPoint> points, std::int64_t start = 0) {
  return {"", points.size(), start, std::move(points)};
}

std::size_t rows_of(const std::vector<PlotCell>& cells) {
  std::size_t rows = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) rows += i == 0 || !cells[i].same_row(cells[i - 1]) ? 1U : 0U;
  return rows;
}

TEST(Rows, HoldPointsOfTheSameMillisecondTogether) {
  std::vector<Series> series;
  series.push_back(series_of({{0, 1}, {10 * kMilli + 999'999, 2}}));
  series.push_back(series_of({{1000, 3}, {10 * kMilli, 4}}, 1000));
  const std::vector<PlotCell> cells = make_rows(series, 0);
  ASSERT_EQ(cells.size(), 4U);
  EXPECT_EQ(rows_of(cells), 3U);  // the last one began 9.999 ms after its own start
  EXPECT_EQ(cells[0].latency, 1);
  EXPECT_EQ(cells[1].latency, 3);
  EXPECT_EQ(cells[2].millis, 9);
  EXPECT_EQ(cells[3].millis, 10);
}

TEST(Rows, HaveOnePointOfASeriesAtMost) {
  std::vector<Series> series;
  series.push_back(series_of({{0, 1}, {1, 2}, {2, 3}}));
  const std::vector<PlotCell> cells = make_rows(series, 0);
  EXPECT_EQ(cells.size(), 3U);
  EXPECT_EQ(rows_of(cells), 3U);
}

TEST(Rows, AreThinnedToTheThresholdForEachSeries) {
  std::vector<Series> series;
  for (int s = 0; s < 2; ++s) {
    std::vector<PlotPoint> points;
    for (std::int64_t i = 0; i < 1000; ++i) points.push_back({i * kMilli, i % 7});
    series.push_back(series_of(std::move(points)));
  }
  EXPECT_EQ(make_rows(series, 100).size(), 200U);
}

TEST(Rows, AreSharedWhereAPageWouldConsistOfEmptyCells) {
  std::vector<Series> series;
  for (std::int64_t s = 0; s < 300; ++s) {
    std::vector<PlotPoint> points;
    for (std::int64_t i = 0; i < 1500; ++i) points.push_back({(i * 300 + s) * kMilli, i == 1234 ? 5000 : i % 7});
    series.push_back(series_of(std::move(points)));
  }
  const std::vector<PlotCell> cells = make_rows(series, 4000);
  EXPECT_LE(rows_of(cells) * series.size(), 200'000U);
  std::set<std::size_t> with_peak;
  for (const PlotCell& cell : cells) {
    if (cell.latency == 5000) with_peak.insert(cell.series);
  }
  EXPECT_EQ(with_peak.size(), series.size());
}

TEST(Rows, AreFewerWhereAPageWouldHoldTooManyPoints) {
  std::vector<Series> series;
  for (std::int64_t s = 0; s < 300; ++s) {
    std::vector<PlotPoint> points;
    for (std::int64_t i = 0; i < 1000; ++i) points.push_back({i * kMilli, i});
    series.push_back(series_of(std::move(points)));
  }
  const std::vector<PlotCell> cells = make_rows(series, 4000);
  EXPECT_LE(rows_of(cells) * series.size(), 200'000U);
  EXPECT_GT(cells.size(), 100'000U);
}

TEST(Rows, BearTheWidestTimes) {
  std::vector<Series> series;
  for (int s = 0; s < 1000; ++s)
    series.push_back(series_of({{INT64_MIN, 1}, {s, 2}, {INT64_MAX, 3}}, s % 2 == 0 ? INT64_MIN : INT64_MAX));
  EXPECT_GE(make_rows(series, 3).size(), 1000U);
}

TEST(Rows, AreNoneWithoutSeries) {
  std::vector<Series> series;
  EXPECT_TRUE(make_rows(series, 4000).empty());
}

}  // namespace
}  // namespace pepe
