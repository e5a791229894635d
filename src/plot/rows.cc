#include "plot/rows.h"

#include <algorithm>
#include <tuple>

namespace pepe {
namespace {

/// Cells that a page may have, empty or not, before points have to share rows: a megabyte and a half. One or two series
/// get as many as their threshold asks for.
constexpr std::size_t kMaxCells = 180'000;

void thin(Series& series, std::size_t threshold) {
  if (threshold != 0 && series.points.size() > threshold) series.points = largest_triangles(series.points, threshold);
}

std::int64_t millis_since(std::int64_t start, std::int64_t time) {
  std::int64_t nanos = 0;
  if (__builtin_sub_overflow(time, start, &nanos)) nanos = time < start ? INT64_MIN : INT64_MAX;
  return nanos / 1'000'000;
}

std::vector<PlotCell> cells_of(const std::vector<Series>& series) {
  std::vector<PlotCell> cells;
  for (std::size_t i = 0; i < series.size(); ++i) {
    std::size_t copy = 0;
    for (const PlotPoint& point : series[i].points) {
      const std::int64_t millis = millis_since(series[i].start, point.time);
      const bool same = !cells.empty() && cells.back().series == i && cells.back().millis == millis;
      copy = same ? copy + 1 : 0;
      cells.push_back({millis, copy, i, point.latency});
    }
  }
  return cells;
}

// Moves x to the nearest of `columns` places and drops all but the highest point of a series there.
void share_rows(std::vector<PlotCell>& cells, std::size_t columns) {
  const auto [low, high] = std::minmax_element(
      cells.begin(), cells.end(), [](const PlotCell& a, const PlotCell& b) { return a.millis < b.millis; });
  const std::int64_t origin = low->millis;
  const std::uint64_t range = static_cast<std::uint64_t>(high->millis) - static_cast<std::uint64_t>(origin);
  const std::uint64_t step = range / columns + 1;
  std::size_t kept = 0;
  for (const PlotCell& cell : cells) {
    PlotCell moved = cell;
    const std::uint64_t offset = static_cast<std::uint64_t>(cell.millis) - static_cast<std::uint64_t>(origin);
    moved.millis = static_cast<std::int64_t>(static_cast<std::uint64_t>(origin) + offset / step * step);
    moved.copy = 0;
    if (kept > 0 && cells[kept - 1].series == moved.series && cells[kept - 1].millis == moved.millis) {
      cells[kept - 1].latency = std::max(cells[kept - 1].latency, moved.latency);
    } else {
      cells[kept++] = moved;
    }
  }
  cells.resize(kept);
}

void sort_into_rows(std::vector<PlotCell>& cells) {
  std::sort(cells.begin(), cells.end(), [](const PlotCell& a, const PlotCell& b) {
    return std::tie(a.millis, a.copy, a.series) < std::tie(b.millis, b.copy, b.series);
  });
}

std::size_t count_rows(const std::vector<PlotCell>& cells) {
  std::size_t rows = cells.empty() ? 0 : 1;
  for (std::size_t i = 1; i < cells.size(); ++i) rows += cells[i].same_row(cells[i - 1]) ? 0U : 1U;
  return rows;
}

}  // namespace

std::vector<PlotCell> make_rows(std::vector<Series>& series, std::size_t threshold) {
  for (Series& one : series) thin(one, threshold);
  std::vector<PlotCell> cells = cells_of(series);
  sort_into_rows(cells);
  if (threshold == 0) return cells;
  const std::size_t limit = std::max(kMaxCells, 4 * threshold);
  if (count_rows(cells) * series.size() > limit) {
    const std::size_t columns = std::max<std::size_t>(3, limit / series.size());
    for (Series& one : series) thin(one, std::min(threshold, columns));
    cells = cells_of(series);
    share_rows(cells, columns);
    sort_into_rows(cells);
  }
  return cells;
}

}  // namespace pepe
