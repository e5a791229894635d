#include "plot/lttb.h"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace pepe {
namespace {

std::vector<PlotPoint> noise(std::size_t count) {
  std::mt19937_64 random{count};
  std::vector<PlotPoint> points;
  for (std::size_t i = 0; i < count; ++i) {
    points.push_back({static_cast<std::int64_t>(i) * 1'000'000, static_cast<std::int64_t>(random() % 1'000'000)});
  }
  return points;
}

bool in_order(const std::vector<PlotPoint>& points) {
  return std::is_sorted(points.begin(), points.end(),
                        [](const PlotPoint& a, const PlotPoint& b) { return a.time < b.time; });
}

TEST(LargestTriangles, KeepExactlyAsManyAsAskedFor) {
  for (const std::size_t count : {4U, 5U, 10U, 50U, 101U, 1000U}) {
    const std::vector<PlotPoint> points = noise(count);
    for (std::size_t threshold = 3; threshold < count; threshold += 1 + count / 20) {
      SCOPED_TRACE(testing::Message() << threshold << " of " << count);
      const std::vector<PlotPoint> kept = largest_triangles(points, threshold);
      EXPECT_EQ(kept.size(), threshold);
      EXPECT_EQ(kept.front(), points.front());
      EXPECT_EQ(kept.back(), points.back());
      EXPECT_TRUE(in_order(kept));
    }
  }
}

TEST(LargestTriangles, KeepTheHighestPoint) {
  for (std::size_t at = 0; at < 200; at += 7) {
    std::vector<PlotPoint> points = noise(200);
    points[at].latency = 1'000'001;
    const std::vector<PlotPoint> kept = largest_triangles(points, 5);
    EXPECT_NE(std::find(kept.begin(), kept.end(), points[at]), kept.end()) << at;
  }
}

TEST(LargestTriangles, ChooseThePeakOfEachBucket) {
  // One bucket between the ends, then two: a lone peak in each.
  std::vector<PlotPoint> points(12);
  for (std::size_t i = 0; i < points.size(); ++i) points[i].time = static_cast<std::int64_t>(i);
  points[3].latency = 10;
  points[8].latency = 11;
  EXPECT_EQ(largest_triangles(points, 3)[1], points[8]);
  const std::vector<PlotPoint> four = largest_triangles(points, 4);
  EXPECT_EQ(four[1], points[3]);
  EXPECT_EQ(four[2], points[8]);
}

TEST(LargestTriangles, BearTheWidestNumbers) {
  const std::vector<PlotPoint> points = {{INT64_MIN, INT64_MAX}, {0, INT64_MIN}, {1, 0}, {INT64_MAX, INT64_MAX}};
  EXPECT_EQ(largest_triangles(points, 3).size(), 3U);
}

TEST(KeepExtremes, ThinsToAboutTheCountAndKeepsEndsAndExtremes) {
  for (const std::size_t count : {10U, 100U, 1001U, 20'000U}) {
    for (const std::size_t target : {4U, 8U, 100U, 5000U}) {
      SCOPED_TRACE(testing::Message() << target << " of " << count);
      const std::vector<PlotPoint> all = noise(count);
      std::vector<PlotPoint> points = all;
      keep_extremes(points, target);
      EXPECT_LE(points.size(), std::max<std::size_t>(target, 4));
      EXPECT_GE(points.size(), std::min<std::size_t>(count, target / 3));
      EXPECT_EQ(points.front(), all.front());
      EXPECT_EQ(points.back(), all.back());
      EXPECT_TRUE(in_order(points));
      const auto lower = [](const PlotPoint& a, const PlotPoint& b) { return a.latency < b.latency; };
      EXPECT_EQ(std::max_element(points.begin(), points.end(), lower)->latency,
                std::max_element(all.begin(), all.end(), lower)->latency);
      EXPECT_EQ(std::min_element(points.begin(), points.end(), lower)->latency,
                std::min_element(all.begin(), all.end(), lower)->latency);
    }
  }
}

}  // namespace
}  // namespace pepe
