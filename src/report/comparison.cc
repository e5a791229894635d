#include "report/comparison.h"

#include <cmath>
#include <unordered_map>

namespace pepe {
namespace {

template <class Number>
Change change_of(Number base, Number changed) {
  return {.base = static_cast<double>(base), .changed = static_cast<double>(changed)};
}
Change change_of(Nanos base, Nanos changed) { return change_of(base.count(), changed.count()); }

Change judged(const Estimate& base, const Estimate& changed) {
  Change change = change_of(base.value, changed.value);
  const auto interval = difference(base, changed);
  change.confidence = interval ? Change::Confidence::kKnown : Change::Confidence::kTooFew;
  if (interval) change.interval = *interval;
  return change;
}

// The ends of the scale are no more than one result: however many there are, nothing says how sure they are.
Change compare_quantile(const Metrics& base, const Metrics& changed, double q) {
  if (q <= 0 || q >= 1) return change_of(base.quantile(q), changed.quantile(q));
  return judged(estimate_quantile(base, q), estimate_quantile(changed, q));
}

std::map<std::uint16_t, Change> compare_codes(const MetricsSummary& base, const MetricsSummary& changed) {
  std::map<std::uint16_t, Change> codes;
  for (const auto& [code, count] : base.status_codes) codes[code].base = static_cast<double>(count);
  for (const auto& [code, count] : changed.status_codes) codes[code].changed = static_cast<double>(count);
  return codes;
}

// A kind that is one text on one side and several on the other is known by what they share.
std::vector<NamedChange> compare_errors(const MetricsSummary& base, const MetricsSummary& changed) {
  std::vector<NamedChange> errors;
  std::unordered_map<std::string_view, std::size_t> places;
  for (const ErrorKind& kind : base.error_kinds) {
    places.emplace(kind.key, errors.size());
    errors.push_back({kind.text, {.base = static_cast<double>(kind.count)}});
  }
  for (const ErrorKind& kind : changed.error_kinds) {
    const auto [place, is_new] = places.emplace(kind.key, errors.size());
    if (is_new) errors.push_back({kind.text, {}});
    NamedChange& error = errors[place->second];
    error.change.changed = static_cast<double>(kind.count);
    if (error.name != kind.text) error.name = kind.key;
  }
  return errors;
}

}  // namespace

std::optional<double> Change::relative() const noexcept {
  if (base == 0) return std::nullopt;
  return difference() / std::fabs(base);
}

std::string_view verdict(const Change& change, Growth growth) {
  if (change.confidence != Change::Confidence::kKnown) return "too few hits";
  const Interval& interval = change.interval;
  if (interval.low == 0 && interval.high == 0) return "same";
  if (interval.low <= 0 && interval.high >= 0) return "unclear";
  if (growth == Growth::kBetter) return interval.low > 0 ? "better" : "worse";
  return interval.low > 0 ? "slower" : "faster";
}

Comparison compare(const Metrics& base, const Metrics& changed, const ReportStyle& style) {
  const MetricsSummary a = base.summary();
  const MetricsSummary b = changed.summary();
  Comparison out;
  out.requests = change_of(a.requests, b.requests);
  out.rate = change_of(a.rate, b.rate);
  out.throughput = change_of(a.throughput, b.throughput);
  out.success = judged(estimate_success(a), estimate_success(b));
  out.bytes_in = change_of(a.bytes_in_total, b.bytes_in_total);
  out.bytes_in_mean = change_of(a.bytes_in_mean, b.bytes_in_mean);
  out.bytes_out = change_of(a.bytes_out_total, b.bytes_out_total);
  out.bytes_out_mean = change_of(a.bytes_out_mean, b.bytes_out_mean);
  out.min = change_of(a.latency_min, b.latency_min);
  out.mean = change_of(a.latency_mean, b.latency_mean);
  out.max = change_of(a.latency_max, b.latency_max);
  for (const ReportQuantile& quantile : style.quantiles)
    out.quantiles.push_back({quantile.percent, compare_quantile(base, changed, quantile.q)});
  out.status_codes = compare_codes(a, b);
  out.errors = compare_errors(a, b);
  out.errors_left_out = change_of(a.errors_left_out, b.errors_left_out);
  return out;
}

}  // namespace pepe
