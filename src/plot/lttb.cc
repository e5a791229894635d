#include "plot/lttb.h"

#include <algorithm>
#include <cmath>

namespace pepe {
namespace {

struct Spot {
  double x;
  double y;
};

double difference(std::int64_t a, std::int64_t b) { return static_cast<double>(a) - static_cast<double>(b); }

// Twice the area of the triangle, which orders triangles as well.
double area(Spot a, Spot b, Spot c) { return std::fabs((a.x - c.x) * (b.y - a.y) - (a.x - b.x) * (c.y - a.y)); }

bool lower(const PlotPoint& a, const PlotPoint& b) { return a.latency < b.latency; }

}  // namespace

std::vector<PlotPoint> largest_triangles(std::span<const PlotPoint> points, std::size_t threshold) {
  const std::int64_t origin = points.front().time;
  const auto spot = [&](const PlotPoint& p) {
    return Spot{difference(p.time, origin), static_cast<double>(p.latency)};
  };
  const auto bucket_start = [&](std::size_t bucket) {  // of the threshold - 2 buckets between the ends
    return 1 + static_cast<std::size_t>(static_cast<double>(bucket) * static_cast<double>(points.size() - 2) /
                                        static_cast<double>(threshold - 2));
  };
  const PlotPoint* highest = &*std::max_element(points.begin(), points.end(), lower);

  std::vector<PlotPoint> kept;
  kept.reserve(threshold);
  kept.push_back(points.front());
  for (std::size_t bucket = 0; bucket + 2 < threshold; ++bucket) {
    const auto here = points.subspan(bucket_start(bucket), bucket_start(bucket + 1) - bucket_start(bucket));
    const std::size_t next = bucket_start(bucket + 1);
    const std::size_t next_end = bucket + 3 < threshold ? bucket_start(bucket + 2) : points.size();
    Spot middle{0, 0};
    for (const PlotPoint& point : points.subspan(next, next_end - next)) {
      middle.x += spot(point).x / static_cast<double>(next_end - next);
      middle.y += spot(point).y / static_cast<double>(next_end - next);
    }
    const Spot previous = spot(kept.back());
    const PlotPoint* best = &*std::max_element(here.begin(), here.end(), [&](const PlotPoint& a, const PlotPoint& b) {
      return area(previous, spot(a), middle) < area(previous, spot(b), middle);
    });
    const bool holds_highest = highest >= here.data() && highest < here.data() + here.size();
    kept.push_back(holds_highest ? *highest : *best);
  }
  kept.push_back(points.back());
  return kept;
}

void keep_extremes(std::vector<PlotPoint>& points, std::size_t count) {
  const std::size_t groups = std::max<std::size_t>(1, (count - 2) / 2);
  const std::size_t inner = points.size() - std::min<std::size_t>(points.size(), 2);
  const std::size_t group_size = (inner + groups - 1) / groups;
  if (group_size <= 2) return;
  std::size_t kept = 1;
  for (std::size_t first = 1; first <= inner; first += group_size) {
    const auto begin = points.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = points.begin() + static_cast<std::ptrdiff_t>(std::min(first + group_size, inner + 1));
    auto [low, high] = std::minmax_element(begin, end, lower);
    if (low > high) std::swap(low, high);
    const PlotPoint second = *high;
    points[kept++] = *low;
    if (low != high) points[kept++] = second;
  }
  points[kept++] = points.back();
  points.resize(kept);
}

}  // namespace pepe
