#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pepe/result/result.h"
#include "plot/lttb.h"

namespace pepe {

/// One line of a plot: the hits of one attack that have, or have not, an error.
struct Series {
  std::string label;      ///< "NAME: OK" or "NAME: ERROR".
  std::uint64_t hits{0};  ///< All of them, drawn or not.
  std::int64_t start{0};  ///< Where its seconds count from, in nanoseconds since 1970.
  std::vector<PlotPoint> points;
};

/// Gathers results into series. Thins them while it gathers, so that memory is bounded whatever the number of results
/// and of attack names; with a threshold of 0 it keeps all.
class SeriesGatherer {
 public:
  explicit SeriesGatherer(std::int64_t threshold);
  SeriesGatherer(const SeriesGatherer&) = delete;
  SeriesGatherer& operator=(const SeriesGatherer&) = delete;

  void add(const Result& result);
  /// The series that have hits, by label, their points in order of time. Leaves the gatherer empty.
  std::vector<Series> take();

 private:
  struct Line {
    std::uint64_t hits{0};
    std::vector<PlotPoint> points;
  };
  struct Attack {
    std::optional<std::int64_t>
        first_hit;  ///< Time of the hit with number 0, the earliest of them if there are several.
    std::int64_t earliest{0};
    Line ok;
    Line error;
  };
  using Attacks = std::map<std::string, Attack, std::less<>>;

  Attack& attack_of(std::string_view name);
  std::size_t points_to_hold() const;
  void thin_all();

  std::size_t threshold_;
  Attacks attacks_;
  Attacks::iterator last_{attacks_.end()};  ///< Results of one attack tend to follow one another.
  std::size_t held_{0};
  std::size_t held_limit_;
};

}  // namespace pepe
