#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pepe {

/// A hit as a plot sees it, both in nanoseconds: when it began, and its latency.
struct PlotPoint {
  std::int64_t time{0};
  std::int64_t latency{0};
  friend bool operator==(const PlotPoint&, const PlotPoint&) = default;
};

/// Thins `points`, which are in order of time, to exactly `threshold` of them by largest triangle, three buckets
/// (Sveinn Steinarsson, "Downsampling Time Series for Visual Representation", 2013). The first, the last and the
/// highest stay. REQUIRES: 3 <= threshold < points.size().
std::vector<PlotPoint> largest_triangles(std::span<const PlotPoint> points, std::size_t threshold);

/// Thins `points`, which are in order of time, to about `count` by keeping the lowest and the highest of each group of
/// neighbours, and the ends: what a later, finer thinning would choose from. REQUIRES: count >= 4.
void keep_extremes(std::vector<PlotPoint>& points, std::size_t count);

}  // namespace pepe
