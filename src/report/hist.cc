#include <cmath>
#include <iterator>
#include <string>

#include <fmt/format.h>

#include "report/columns.h"
#include "report/reporters.h"

namespace pepe {

void write_histogram_report(const Metrics& metrics, const ReportStyle& /*style*/, std::string& out) {
  constexpr double kMarks = 75;
  std::uint64_t total = 0;
  for (const std::uint64_t count : metrics.bucket_counts()) total += count;

  std::string text = "Bucket\t\t#\t%\tHistogram\n";
  for (std::size_t i = 0; i < metrics.bounds().size(); ++i) {
    const bool last = i + 1 == metrics.bounds().size();
    const std::uint64_t count = metrics.bucket_counts()[i];
    const double share = total == 0 ? 0 : static_cast<double>(count) / static_cast<double>(total);
    fmt::format_to(std::back_inserter(text), "[{},\t{}]\t{}\t{:.2f}%\t{}\n", format_duration(metrics.bounds()[i]),
                   last ? "+Inf" : format_duration(metrics.bounds()[i + 1]), count, share * 100,
                   std::string(static_cast<std::size_t>(std::floor(share * kMarks)), '#'));
  }
  append_columns(text, out);
}

}  // namespace pepe
