#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "pepe/base/text.h"
#include "pepe/report/reporter.h"
#include "report/reporters.h"

namespace pepe {
namespace {

constexpr std::string_view kHistogram = "hist";

constexpr ReporterEntry kReporters[] = {
    {"text", write_text_report, write_titled_group, true},
    {"json", write_json_report, write_json_group, true},
    {kHistogram, write_histogram_report, write_titled_group, false},
    {"hdrplot", write_hdrplot_report, write_titled_group, false},
};

constexpr ComparerEntry kComparers[] = {
    {"compare", write_text_comparison},
    {"compare-json", write_json_comparison},
};

template <class Entry, std::size_t kCount>
const Entry* find(const Entry (&entries)[kCount], std::string_view name) {
  const auto* found =
      std::find_if(std::begin(entries), std::end(entries), [name](const Entry& entry) { return entry.name == name; });
  return found == std::end(entries) ? nullptr : found;
}

std::string names() {
  std::string out;
  for (const ReporterEntry& entry : kReporters) out.append(out.empty() ? "" : ", ").append(entry.name);
  for (const ComparerEntry& entry : kComparers) out.append(", ").append(entry.name);
  return out;
}

Error bad_buckets(std::string_view text, std::string_view reason) {
  return Error{fmt::format("bad buckets: {}: {}", text, reason)};
}

}  // namespace

std::span<const ReporterEntry> reporters() { return kReporters; }
std::span<const ComparerEntry> comparers() { return kComparers; }

void write_groups(const ReporterEntry& reporter, const GroupedMetrics& metrics, const ReportStyle& style,
                  std::string& out) {
  for (const ResultGroup& group : metrics.groups())
    reporter.write_group(reporter, metrics.key().name, group, style, out);
}

Expected<ReportPlan> plan_report(std::string_view type, std::string_view buckets) {
  if (type.size() < 4) return Error{fmt::format("invalid report type: {}: want {}", type, names())};
  if (type == "plot") return Error{"report makes no plots: use the plot command"};
  const bool histogram = type.starts_with(kHistogram);
  ReportPlan plan;
  plan.comparer = find(kComparers, type);
  if (plan.comparer != nullptr) return plan;
  plan.reporter = find(kReporters, histogram ? kHistogram : type);
  if (plan.reporter == nullptr) return Error{fmt::format("unknown report type: {}: want {}", quote(type), names())};
  const std::string_view list = histogram && buckets.empty() ? type.substr(kHistogram.size()) : buckets;
  if (histogram || (type == "json" && !buckets.empty())) {
    Expected<std::vector<Nanos>> bounds = parse_buckets(list);
    if (!bounds) return std::move(bounds).error();
    plan.bounds = *std::move(bounds);
  }
  return plan;
}

Expected<std::vector<Nanos>> parse_buckets(std::string_view text) {
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') {
    return bad_buckets(text, "want durations in brackets, such as [0,1ms,10ms]");
  }
  std::vector<Nanos> bounds;
  std::string_view rest = text.substr(1, text.size() - 2);
  for (bool more = true; more;) {
    const std::size_t comma = rest.find(',');
    Expected<Nanos> bound = parse_duration(trim(rest.substr(0, comma)));
    if (!bound) return bad_buckets(text, bound.error().text());
    bounds.push_back(*bound);
    more = comma != std::string_view::npos;
    if (more) rest.remove_prefix(comma + 1);
  }
  // Scripts for vegeta may hold lists in any order that begin with 0; no other list is one by intent.
  if (bounds.front().count() != 0 && !std::is_sorted(bounds.begin(), bounds.end())) {
    return bad_buckets(text, "want ascending durations");
  }
  if (bounds.front().count() > 0) bounds.insert(bounds.begin(), Nanos{0});
  return bounds;
}

}  // namespace pepe
