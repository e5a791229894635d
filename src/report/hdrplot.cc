#include <cmath>
#include <iterator>
#include <string>

#include <fmt/format.h>

#include "report/columns.h"
#include "report/reporters.h"

namespace pepe {
namespace {

// The ticks of an HdrHistogram plot with five to each halving of what is left.
constexpr double kTicks[] = {
    0,       .1,      .2,      .3,      .4,      .5,      .55,     .6,      .65,     .7,      .75,     .775,
    .8,      .825,    .85,     .875,    .8875,   .9,      .9125,   .925,    .9375,   .94375,  .95,     .95625,
    .9625,   .96875,  .971875, .975,    .978125, .98125,  .984375, .985938, .9875,   .989062, .990625, .992188,
    .992969, .99375,  .994531, .995313, .996094, .996484, .996875, .997266, .997656, .998047, .998242, .998437,
    .998633, .998828, .999023, .999121, .999219, .999316, .999414, .999512, .999561, .999609, .999658, .999707,
    .999756, .99978,  .999805, .999829, .999854, .999878, .99989,  .999902, .999915, .999927, .999939, .999945,
    .999951, .999957, .999963, .999969, .999973, .999976, .999979, .999982, .999985, .999986, .999988, .999989,
    .999991, .999992, .999993, .999994, .999995, .999996, .999997, .999998, .999999, 1,
};

double milliseconds(Nanos duration) {
  constexpr std::int64_t kMilli = 1'000'000;
  const std::int64_t whole = duration.count() / kMilli;
  return static_cast<double>(whole) + static_cast<double>(duration.count() % kMilli) / 1e6;
}

}  // namespace

void write_hdrplot_report(const Metrics& metrics, const ReportStyle& /*style*/, std::string& out) {
  constexpr double kEnd = 10'000'000;  // stands for infinity at quantile 1
  const auto requests = static_cast<double>(metrics.summary().requests);
  std::string text = "Value(ms)\tPercentile\tTotalCount\t1/(1-Percentile)\n";
  for (const double q : kTicks) {
    fmt::format_to(std::back_inserter(text), "{:.6f}\t{:.6f}\t{:.0f}\t{:.6f}\n", milliseconds(metrics.quantile(q)), q,
                   std::floor(q * requests + 0.5), q < 1 ? 1 / (1 - q) : kEnd);
  }
  append_columns(text, out);
}

}  // namespace pepe
