#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pepe/base/expected.h"
#include "pepe/base/time.h"
#include "pepe/metrics/groups.h"
#include "pepe/metrics/metrics.h"
#include "pepe/report/quantiles.h"

namespace pepe {

/// From when latencies count: from the sending of a hit, or from when it was due.
enum class LatencyFrom { kService, kSchedule };

/// What a report shows beside what its type fixes.
struct ReportStyle {
  LatencyFrom latency_from{LatencyFrom::kService};  ///< Of the latencies that the metrics were given; for the label.
  std::vector<ReportQuantile> quantiles{usual_quantiles()};
};

/// One row of the registry: a report by its -type name. Pure: metrics to bytes; the caller owns the file.
struct ReporterEntry {
  std::string_view name;
  void (*write)(const Metrics& metrics, const ReportStyle& style, std::string& out);
  /// One report of several: of the group `group`, told apart by `key`.
  void (*write_group)(const ReporterEntry& reporter, std::string_view key, const ResultGroup& group,
                      const ReportStyle& style, std::string& out);
  bool shows_quantiles{false};  ///< Those of the style.
};

/// The types that exist: text, json, hist, hdrplot.
std::span<const ReporterEntry> reporters();

/// One row of the registry: a report on two sets of results, `changed` against `base`.
struct ComparerEntry {
  std::string_view name;
  void (*write)(const Metrics& base, const Metrics& changed, const ReportStyle& style, std::string& out);
};

/// The types that exist: compare, compare-json.
std::span<const ComparerEntry> comparers();

/// A report of each group, one after the other: under a line that names it, or, of the type json, one object a line:
/// {"group":"...","report":{...}}.
void write_groups(const ReporterEntry& reporter, const GroupedMetrics& metrics, const ReportStyle& style,
                  std::string& out);

/// What -type and -buckets ask for together.
struct ReportPlan {
  const ReporterEntry* reporter{nullptr};  ///< This one or `comparer`.
  const ComparerEntry* comparer{nullptr};
  std::vector<Nanos> bounds;  ///< For Metrics; empty: no histogram.
};

/// Reads -type ("text", "json", "hist[0,1ms,10ms]", "hist" with -buckets, "hdrplot", "compare", "compare-json") and
/// -buckets. Error: vegeta's texts: `invalid report type: T`, `unknown report type: "T"`, `bad buckets: ...`, the hint
/// for plot.
Expected<ReportPlan> plan_report(std::string_view type, std::string_view buckets);

/// "[0,1ms,10ms]" to ascending bounds; a bound 0 is put in front when the first is above it.
Expected<std::vector<Nanos>> parse_buckets(std::string_view text);

}  // namespace pepe
