#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pepe/base/expected.h"

namespace pepe {

/// A quantile that a report shows, by the percentile that it is labelled with.
struct ReportQuantile {
  std::string percent;  ///< "50", "99.9": as short as it can be.
  double q{0};          ///< In [0,1].
  friend bool operator==(const ReportQuantile&, const ReportQuantile&) = default;
};

inline constexpr std::size_t kMaxReportQuantiles = 100;

/// "99.9" to the quantile 0.999: 0 to 100, at most 15 digits. nullopt: it is none.
std::optional<double> parse_percentile(std::string_view text);

/// The value of -quantiles, in its order: "50,99.9". 0 and 100 are the least and the largest latency.
/// Error: what was found: no percentile, one that is there already, more than kMaxReportQuantiles.
Expected<std::vector<ReportQuantile>> parse_quantiles(std::string_view list);

/// Those of vegeta's reports: 50, 90, 95, 99.
std::vector<ReportQuantile> usual_quantiles();

}  // namespace pepe
