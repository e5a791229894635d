#include "pepe/report/quantiles.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "pepe/base/text.h"

namespace pepe {
namespace {

// "099.90" is labelled "99.9", so that whoever looks for a figure need not know how it was asked for.
std::string shortest(std::string_view decimal) {
  const std::size_t point = std::min(decimal.find('.'), decimal.size());
  std::string_view whole = decimal.substr(0, point);
  std::string_view fraction = decimal.substr(point);
  while (whole.starts_with('0')) whole.remove_prefix(1);
  while (fraction.ends_with('0') || fraction == ".") fraction.remove_suffix(1);
  return std::string{whole.empty() ? "0" : whole}.append(fraction);
}

}  // namespace

std::optional<double> parse_percentile(std::string_view text) {
  const auto percent = parse_decimal(text);
  if (!percent || *percent > 100) return std::nullopt;
  return *percent / 100;
}

Expected<std::vector<ReportQuantile>> parse_quantiles(std::string_view list) {
  std::vector<ReportQuantile> quantiles;
  for (bool more = true; more;) {
    const std::size_t comma = list.find(',');
    const std::string_view text = trim(list.substr(0, comma));
    const auto q = parse_percentile(text);
    if (!q) return Error{fmt::format("{} is no percentile: want some from 0 to 100, as in 50,90,99.9", quote(text))};
    ReportQuantile quantile{shortest(text), *q};
    if (std::find(quantiles.begin(), quantiles.end(), quantile) != quantiles.end()) {
      return Error{fmt::format("{} stands there twice", quantile.percent)};
    }
    if (quantiles.size() == kMaxReportQuantiles)
      return Error{fmt::format("want at most {} percentiles", kMaxReportQuantiles)};
    quantiles.push_back(std::move(quantile));
    more = comma != std::string_view::npos;
    if (more) list.remove_prefix(comma + 1);
  }
  return quantiles;
}

std::vector<ReportQuantile> usual_quantiles() { return {{"50", 0.50}, {"90", 0.90}, {"95", 0.95}, {"99", 0.99}}; }

}  // namespace pepe
