#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/flags.h"
#include "cli/thresholds.h"
#include "pepe/metrics/groups.h"
#include "pepe/report/reporter.h"

namespace pepe {

/// What the flags of `pepe report` ask for.
struct ReportOptions {
  std::string type{"text"};
  std::string buckets;
  std::string output{"stdout"};
  Nanos every{0};
  const GroupKey* group_key{nullptr};
  std::optional<std::vector<ReportQuantile>> quantiles;
  LatencyFrom latency_from{LatencyFrom::kService};
  std::vector<Threshold> thresholds;

  ReportStyle style() const;
};

void add_report_flags(FlagSet& flags, ReportOptions& options);

/// What is wrong with flags and files that are each fine, in one line; nullopt: nothing.
std::optional<std::string> find_conflict(const ReportOptions& options, const ReportPlan& plan, std::size_t files);

}  // namespace pepe
