#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "pepe/base/text.h"
#include "report/columns.h"
#include "report/comparison.h"
#include "report/reporters.h"

namespace pepe {
namespace {

using Show = std::string (*)(double value);

std::string whole(double value) { return fmt::format("{:.0f}", value); }
std::string decimal(double value) { return fmt::format("{:.2f}", value); }
std::string percent(double value) { return fmt::format("{:.2f}%", value * 100); }
// Of the difference of two percentages, so that it is not taken for a share of the base.
std::string points(double value) { return fmt::format("{:.2f} points", value * 100); }
std::string duration(double nanos) {
  constexpr double kBeyond = 0x1p63;
  const Nanos rounded = nanos >= kBeyond ? Nanos::max() : Nanos{static_cast<std::int64_t>(std::max(nanos, -kBeyond))};
  return format_duration(round_duration(rounded));
}

std::string with_sign(double value, Show show) {
  std::string size = show(std::fabs(value));
  // What rounds to nothing has no sign.
  if (size == show(0)) return size;
  return (value < 0 ? "-" : "+") + size;
}

/// One line of figures after the other, in cells.
class Table {
 public:
  explicit Table(std::string& out) : to_{out} {
    fmt::format_to(to_, "\t\tBase\tNew\tChange\t\t95% interval of the change\n");
  }

  void row(std::string_view label, std::string_view part, const Change& change, Show show) {
    row(label, part, change, show, show, Growth::kWorse);
  }
  void row(std::string_view label, std::string_view part, const Change& change, Show show, Show show_difference,
           Growth growth) {
    const auto relative = change.relative();
    fmt::format_to(to_, "{}\t[{}]\t{}\t{}\t{}\t{}\t", label, part, show(change.base), show(change.changed),
                   with_sign(change.difference(), show_difference), relative ? with_sign(*relative, percent) : "");
    if (change.confidence == Change::Confidence::kKnown) {
      fmt::format_to(to_, "{} to {}: ", with_sign(change.interval.low, show_difference),
                     with_sign(change.interval.high, show_difference));
    }
    fmt::format_to(to_, "{}\n", change.confidence == Change::Confidence::kNotJudged ? "" : verdict(change, growth));
  }

 private:
  std::back_insert_iterator<std::string> to_;
};

void append_errors(const Comparison& comparison, std::string& out) {
  out += "Error Set:\n";
  const auto append = [&out](const Change& change, std::string_view text) {
    fmt::format_to(std::back_inserter(out), "{:.0f}\t{:.0f}\t{}\t{}\n", change.base, change.changed,
                   with_sign(change.difference(), whole), text);
  };
  // A text with a line break would look like another row.
  constexpr std::size_t kMostBytes = 1000;
  for (const NamedChange& error : comparison.errors) append(error.change, printable(error.name, kMostBytes));
  const Change& others = comparison.errors_left_out;
  if (others.base > 0 || others.changed > 0) append(others, "... others");
}

// What a column without text has filled up at the end of a line is left out.
void append_without_padding(std::string_view lines, std::string& out) {
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size() - 1);
    const std::size_t last = lines.substr(0, end).find_last_not_of(' ');
    out.append(lines.substr(0, last == std::string_view::npos ? 0 : last + 1)).append("\n");
    lines.remove_prefix(end + 1);
  }
}

}  // namespace

void write_text_comparison(const Metrics& base, const Metrics& changed, const ReportStyle& style, std::string& out) {
  const Comparison c = compare(base, changed, style);
  std::string text;
  Table table{text};
  table.row("Requests", "total", c.requests, whole);
  table.row("", "rate", c.rate, decimal);
  table.row("", "throughput", c.throughput, decimal);
  table.row("Latencies", "min", c.min, duration);
  table.row(style.latency_from == LatencyFrom::kSchedule ? "from schedule" : "", "mean", c.mean, duration);
  for (const NamedChange& quantile : c.quantiles) table.row("", quantile.name, quantile.change, duration);
  table.row("", "max", c.max, duration);
  table.row("Bytes In", "total", c.bytes_in, whole);
  table.row("", "mean", c.bytes_in_mean, decimal);
  table.row("Bytes Out", "total", c.bytes_out, whole);
  table.row("", "mean", c.bytes_out_mean, decimal);
  table.row("Success", "ratio", c.success, percent, points, Growth::kBetter);
  std::string_view label = "Status Codes";
  for (const auto& [code, change] : c.status_codes) {
    table.row(label, std::to_string(code), change, whole);
    label = "";
  }
  append_errors(c, text);
  std::string lines;
  append_columns(text, lines);
  append_without_padding(lines, out);
  out += "Hits of one run depend on each other, so the doubt is at least that. Run both more than once, in turn.\n";
}

}  // namespace pepe
