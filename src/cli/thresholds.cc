#include "cli/thresholds.h"

#include <fmt/format.h>

#include <limits>

#include "cli/console.h"
#include "cli/exit_status.h"
#include "pepe/base/check.h"
#include "pepe/base/text.h"
#include "pepe/base/time.h"
#include "pepe/report/quantiles.h"

namespace pepe {
namespace {

/// 0.999 for "p99.9".
std::optional<double> parse_quantile(std::string_view figure) {
  return figure.starts_with('p') ? parse_percentile(figure.substr(1)) : std::nullopt;
}

std::uint64_t count_errors(const MetricsSummary& summary) {
  std::uint64_t errors = summary.errors_left_out;
  for (const auto& error : summary.errors) errors += error.second;
  return errors;
}

}  // namespace

std::optional<Threshold::Unit> Threshold::unit_of(std::string_view figure) {
  if (figure == "min" || figure == "mean" || figure == "max" || parse_quantile(figure)) return Unit::kDuration;
  if (figure == "success") return Unit::kRatio;
  if (figure == "requests" || figure == "errors" || figure == "rate" || figure == "throughput") return Unit::kNumber;
  return std::nullopt;
}

Expected<double> Threshold::parse_limit(Unit unit, std::string_view text) {
  if (unit == Unit::kDuration) {
    const auto duration = parse_duration(text);
    if (!duration) return duration.error();
    return static_cast<double>(duration->count());
  }
  const bool percent = unit == Unit::kRatio && text.ends_with('%');
  const auto number = parse_decimal(text.substr(0, text.size() - (percent ? 1 : 0)));
  if (!number) return Error{fmt::format("{} is no number: want one like 99.9, of at most 15 digits", quote(text))};
  const double limit = percent ? *number / 100 : *number;
  if (unit == Unit::kRatio && limit > 1) return Error{fmt::format("{} is over 1, or 100%", quote(text))};
  return limit;
}

Expected<double> Threshold::parse_change(std::string_view text) {
  const auto percent = parse_decimal(text.substr(1, text.size() - 2));
  if (!percent) return Error{fmt::format("{} is no change: want one like +5%, of at most 15 digits", quote(text))};
  return (text.starts_with('-') ? -*percent : *percent) / 100;
}

Expected<Threshold> Threshold::parse(std::string_view text) {
  const std::size_t sign = text.find_first_of("<>");
  if (sign == std::string_view::npos) return Error{"want FIGURE>VALUE or FIGURE<VALUE, as in p99>300ms"};
  const bool inclusive = text.substr(sign + 1).starts_with('=');
  Threshold threshold;
  threshold.text_ = text;
  threshold.figure_ = trim(text.substr(0, sign));
  const auto unit = unit_of(threshold.figure_);
  if (!unit) {
    return Error{fmt::format("{} is none of pN, min, mean, max, success, requests, errors, rate, throughput",
                             quote(threshold.figure_))};
  }
  threshold.unit_ = *unit;
  if (text[sign] == '>') {
    threshold.compare_ = inclusive ? Compare::kAtLeast : Compare::kAbove;
  } else {
    threshold.compare_ = inclusive ? Compare::kAtMost : Compare::kBelow;
  }
  const std::string_view value = trim(text.substr(sign + (inclusive ? 2 : 1)));
  threshold.is_change_ = (value.starts_with('+') || value.starts_with('-')) && value.ends_with('%');
  const auto limit = threshold.is_change_ ? parse_change(value) : parse_limit(*unit, value);
  if (!limit) return limit.error();
  threshold.limit_ = *limit;
  return threshold;
}

double Threshold::value_in(const Metrics& metrics) const {
  if (const auto quantile = parse_quantile(figure_)) return static_cast<double>(metrics.quantile(*quantile).count());
  const MetricsSummary summary = metrics.summary();
  if (figure_ == "min") return static_cast<double>(summary.latency_min.count());
  if (figure_ == "mean") return static_cast<double>(summary.latency_mean.count());
  if (figure_ == "max") return static_cast<double>(summary.latency_max.count());
  if (figure_ == "success") return summary.success;
  if (figure_ == "requests") return static_cast<double>(summary.requests);
  if (figure_ == "errors") return static_cast<double>(count_errors(summary));
  return figure_ == "rate" ? summary.rate : summary.throughput;
}

bool Threshold::is_met(double value) const {
  switch (compare_) {
    case Compare::kAbove: return value > limit_;
    case Compare::kAtLeast: return value >= limit_;
    case Compare::kBelow: return value < limit_;
    case Compare::kAtMost: return value <= limit_;
  }
  return false;
}

std::string Threshold::shown(double value) const {
  switch (unit_) {
    case Unit::kDuration:
      // The largest duration is beyond what it rounds to as a double.
      return format_duration(value < 0x1p63 ? Nanos{static_cast<std::int64_t>(value)} : Nanos::max());
    case Unit::kRatio: return fmt::format("{:.6g}%", value * 100);
    case Unit::kNumber: break;
  }
  return fmt::format("{:.10g}", value);
}

std::optional<std::string> Threshold::broken_by(const Metrics& metrics, const Metrics* base) const {
  // A run without a single result is no proof that all is well.
  if (metrics.count() == 0) return text_ + ": there are no results";
  const double value = value_in(metrics);
  if (is_change_) {
    PEPE_CHECK(base != nullptr);
    if (base->count() == 0) return text_ + ": there are no results in the base";
    return broken_by_change(value_in(*base), value);
  }
  if (!is_met(value)) return std::nullopt;
  return fmt::format("{}: {} is {}", text_, figure_, shown(value));
}

// What was 0 and is not has grown, or fallen, by more than any share.
std::optional<std::string> Threshold::broken_by_change(double before, double after) const {
  const double difference = after - before;
  const bool from_nothing = before == 0 && difference != 0;
  const double size = before < 0 ? -before : before;
  const double share = before == 0 ? difference * std::numeric_limits<double>::max() : difference / size;
  if (!is_met(share)) return std::nullopt;
  const std::string by = from_nothing ? "" : fmt::format(", by {:+.2f}%", share * 100);
  return fmt::format("{}: {} went from {} to {}{}", text_, figure_, shown(before), shown(after), by);
}

int judge(const std::vector<Threshold>& thresholds, const Metrics& metrics, const std::string& whose,
          const Metrics* base) {
  int status = kExitOk;
  for (const Threshold& threshold : thresholds) {
    const auto broken = threshold.broken_by(metrics, base);
    if (!broken) continue;
    print_note("-fail-if " + whose + *broken);
    status = kExitBroken;
  }
  return status;
}

}  // namespace pepe
