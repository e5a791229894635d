#include "cli/report_reading.h"

#include <fmt/format.h>

#include "cli/console.h"
#include "pepe/base/saturate.h"

namespace pepe {

ResultInputsOptions reading_for_report(const ReportOptions& options) {
  ResultInputsOptions reading;
  reading.decode = {.bodies = false, .headers = false};
  reading.need_lag = options.latency_from == LatencyFrom::kSchedule;
  return reading;
}

void remark_on_schedule(const ReportOptions& options, std::span<const RunFacts> runs, const std::string& whose) {
  if (options.latency_from != LatencyFrom::kSchedule) return;
  std::uint64_t missed = 0;
  bool closed = false;
  for (const RunFacts& run : runs) {
    missed = saturating_add(missed, run.missed);
    closed = closed || (!run.version.empty() && run.rate.unpaced());  // without a version, the plan is lost
  }
  if (missed > 0)
    print_note(fmt::format("{}{} hits missed: due and never sent, they are in no latency", whose, missed));
  if (closed) print_note(whose + "a closed loop (-rate=0) has no schedule: its latencies count from the sending");
}

}  // namespace pepe
