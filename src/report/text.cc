#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "pepe/base/saturate.h"
#include "pepe/base/text.h"
#include "report/columns.h"
#include "report/reporters.h"

namespace pepe {
namespace {

std::string rounded(Nanos duration) { return format_duration(round_duration(duration)); }

Nanos saturating_sum(Nanos a, Nanos b) { return Nanos{saturating_add(a.count(), b.count())}; }

void append_latencies(const Metrics& metrics, const MetricsSummary& m, const ReportStyle& style, std::string& out) {
  std::string labels;
  std::string values;
  for (const ReportQuantile& quantile : style.quantiles) {
    labels.append(quantile.percent).append(", ");
    values.append(rounded(metrics.quantile(quantile.q))).append(", ");
  }
  fmt::format_to(std::back_inserter(out), "Latencies\t[min, mean, {}max]\t{}, {}, {}{}\n", labels,
                 rounded(m.latency_min), rounded(m.latency_mean), values, rounded(m.latency_max));
  if (style.latency_from == LatencyFrom::kSchedule) out += "Latency\t[from]\tschedule\n";
}

void append_status_codes(const MetricsSummary& summary, std::string& out) {
  std::vector<std::string> codes;
  for (const auto& [code, count] : summary.status_codes) codes.push_back(fmt::format("{}:{}", code, count));
  std::sort(codes.begin(), codes.end(), [](const std::string& a, const std::string& b) {
    return a.substr(0, a.find(':')) < b.substr(0, b.find(':'));
  });
  for (const std::string& code : codes) out.append(code).append("  ");
}

// One line for each kind of error. Texts that differ in the port or stream only would fill pages; they are one line
// with their count. A text that is alone is shown as it is.
void append_errors(const MetricsSummary& summary, std::string& out) {
  for (const ErrorKind& kind : summary.error_kinds) {
    append_terminal_safe(kind.text, out);
    if (kind.merged) fmt::format_to(std::back_inserter(out), " ({} times)", kind.count);
    out += '\n';
  }
  if (summary.errors_left_out > 0) {
    fmt::format_to(std::back_inserter(out), "... and {} more with other errors\n", summary.errors_left_out);
  }
}

}  // namespace

void write_text_report(const Metrics& metrics, const ReportStyle& style, std::string& out) {
  const MetricsSummary m = metrics.summary();
  std::string text;
  const auto to = std::back_inserter(text);
  fmt::format_to(to, "Requests\t[total, rate, throughput]\t{}, {:.2f}, {:.2f}\n", m.requests, m.rate, m.throughput);
  fmt::format_to(to, "Duration\t[total, attack, wait]\t{}, {}, {}\n", rounded(saturating_sum(m.duration, m.wait)),
                 rounded(m.duration), rounded(m.wait));
  append_latencies(metrics, m, style, text);
  fmt::format_to(to, "Bytes In\t[total, mean]\t{}, {:.2f}\n", m.bytes_in_total, m.bytes_in_mean);
  fmt::format_to(to, "Bytes Out\t[total, mean]\t{}, {:.2f}\n", m.bytes_out_total, m.bytes_out_mean);
  fmt::format_to(to, "Success\t[ratio]\t{:.2f}%\n", m.success * 100);
  text += "Status Codes\t[code:count]\t";
  append_status_codes(m, text);
  text += "\nError Set:\n";
  append_errors(m, text);
  append_columns(text, out);
}

}  // namespace pepe
