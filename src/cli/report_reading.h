#pragma once

#include <span>
#include <string>

#include "cli/report_options.h"
#include "cli/result_inputs.h"

namespace pepe {

/// What reports want of results, whatever the report.
ResultInputsOptions reading_for_report(const ReportOptions& options);

/// Hands every result of `inputs` to `add`, with the latency that counts. Error: as ResultInputs::read_all().
template <class Add>
Expected<void> read_latencies(ResultInputs& inputs, LatencyFrom from, Add add) {
  if (from == LatencyFrom::kService) return inputs.read_all([&add](const Result& one) { add(one, one.latency); });
  return inputs.read_all([&add](const Result& one) { add(one, one.latency_from_due()); });
}

/// Says what latencies from the schedule can't show of `runs`; nothing for others. `whose` stands in front.
void remark_on_schedule(const ReportOptions& options, std::span<const RunFacts> runs, const std::string& whose = "");

}  // namespace pepe
