#include <iterator>
#include <map>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "pepe/base/json.h"
#include "report/generator.h"
#include "report/reporters.h"

namespace pepe {
namespace {

void append_latencies(const Metrics& metrics, const MetricsSummary& m, const ReportStyle& style, std::string& out) {
  const auto to = std::back_inserter(out);
  fmt::format_to(to, R"({{"total":{},"mean":{})", m.latency_total.count(), m.latency_mean.count());
  for (const ReportQuantile& quantile : style.quantiles)
    fmt::format_to(to, R"(,"{}th":{})", quantile.percent, metrics.quantile(quantile.q).count());
  fmt::format_to(to, R"(,"max":{},"min":{}}})", m.latency_max.count(), m.latency_min.count());
}

void append_buckets(const Metrics& metrics, std::string& out) {
  if (metrics.bounds().empty()) return;
  out += R"("buckets":{)";
  for (std::size_t i = 0; i < metrics.bounds().size(); ++i) {
    fmt::format_to(std::back_inserter(out), R"({}"{}":{})", i == 0 ? "" : ",", metrics.bounds()[i].count(),
                   metrics.bucket_counts()[i]);
  }
  out += "},";
}

void append_bytes(std::string_view key, std::uint64_t total, double mean, std::string& out) {
  fmt::format_to(std::back_inserter(out), R"("{}":{{"total":{},"mean":)", key, total);
  append_json_number(mean, out);
  out += "},";
}

void append_time(std::string_view key, const std::optional<Timestamp>& time, std::string& out) {
  fmt::format_to(std::back_inserter(out), R"("{}":")", key);
  append_rfc3339(time.value_or(Timestamp{kZeroTime}), out);
  out += R"(",)";
}

void append_number(std::string_view key, double value, std::string& out) {
  fmt::format_to(std::back_inserter(out), R"("{}":)", key);
  append_json_number(value, out);
  out += ',';
}

void append_status_codes(const MetricsSummary& m, std::string& out) {
  std::map<std::string, std::uint64_t> by_text;
  for (const auto& [code, count] : m.status_codes) by_text.emplace(std::to_string(code), count);
  out += R"("status_codes":{)";
  std::string_view comma;
  for (const auto& [code, count] : by_text) {
    fmt::format_to(std::back_inserter(out), R"({}"{}":{})", comma, code, count);
    comma = ",";
  }
  out += "},";
}

void append_errors(const MetricsSummary& m, std::string& out) {
  out += R"("errors":[)";
  for (std::size_t i = 0; i < m.errors.size(); ++i) {
    if (i > 0) out += ',';
    append_json_string(m.errors[i].first, out);
  }
  out += ']';
  if (m.errors_left_out > 0) fmt::format_to(std::back_inserter(out), R"(,"errors_left_out":{})", m.errors_left_out);
}

void append_error_counts(const MetricsSummary& m, std::string& out) {
  out += R"(,"error_counts":{)";
  for (std::size_t i = 0; i < m.error_kinds.size(); ++i) {
    if (i > 0) out += ',';
    append_json_string(m.error_kinds[i].text, out);
    fmt::format_to(std::back_inserter(out), ":{}", m.error_kinds[i].count);
  }
  out += '}';
}

}  // namespace

// The keys up to "errors" and their order are vegeta's. Others follow for native streams only, so that a report of
// vegeta's own files is vegeta's.
void write_json_report(const Metrics& metrics, const ReportStyle& style, std::string& out) {
  const MetricsSummary m = metrics.summary();
  out += R"({"latencies":)";
  append_latencies(metrics, m, style, out);
  out += ',';
  append_buckets(metrics, out);
  append_bytes("bytes_in", m.bytes_in_total, m.bytes_in_mean, out);
  append_bytes("bytes_out", m.bytes_out_total, m.bytes_out_mean, out);
  append_time("earliest", m.earliest, out);
  append_time("latest", m.latest, out);
  append_time("end", m.end, out);
  fmt::format_to(std::back_inserter(out), R"("duration":{},"wait":{},"requests":{},)", m.duration.count(),
                 m.wait.count(), m.requests);
  append_number("rate", m.rate, out);
  append_number("throughput", m.throughput, out);
  append_number("success", m.success, out);
  append_status_codes(m, out);
  append_errors(m, out);
  if (style.latency_from == LatencyFrom::kSchedule) out += R"(,"latency_from":"schedule")";
  if (!metrics.runs().empty()) append_error_counts(m, out);
  append_generator(metrics.runs(), out);
  out += "}\n";
}

}  // namespace pepe
