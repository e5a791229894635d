#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plot/series.h"

namespace pepe {

/// A point in its row.
struct PlotCell {
  std::int64_t millis{0};  ///< Since the start of its series: x.
  std::size_t copy{0};     ///< Counts the points of one series that have the same x: each is in a row of its own.
  std::size_t series{0};
  std::int64_t latency{0};

  bool same_row(const PlotCell& other) const noexcept { return millis == other.millis && copy == other.copy; }
};

/// Thins each series to `threshold` points (0: not at all) and returns all of them row by row, in order of x, a row in
/// order of series. A row is written with a cell for each series; where this would make the page too large, points that
/// are close to one another share a row, and of those of one series the highest is kept. REQUIRES: threshold is 0 or at
/// least 3.
std::vector<PlotCell> make_rows(std::vector<Series>& series, std::size_t threshold);

}  // namespace pepe
