#include "cli/report_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "pepe/base/text.h"

namespace pepe {

ReportStyle ReportOptions::style() const {
  ReportStyle style;
  style.latency_from = latency_from;
  if (quantiles) style.quantiles = *quantiles;
  return style;
}

void add_report_flags(FlagSet& flags, ReportOptions& options) {
  flags.begin_group("Flags");
  flags.add_string({"type", "TYPE", "text, json, hist[0,1ms,10ms], hdrplot, compare or compare-json", "text"},
                   options.type);
  flags.add_string({"buckets", "LIST", "lower bounds of the histogram of -type=hist and of json, as in [0,1ms,10ms]"},
                   options.buckets);
  flags.add_duration({"every", "D", "report what there is so far at each interval, then as a whole"}, options.every);
  flags.add_string({"output", "FILE", "where the report goes", "stdout"}, options.output);
  flags.add({"quantiles", "LIST", "percentiles of the latencies in text and json", "50,90,95,99"},
            assign(options.quantiles, parse_quantiles));
  flags.add({"latency", "FROM", "from when latencies count: service (the sending) or schedule (when due)", "service"},
            [&options](std::string_view text) -> Expected<void> {
              if (text != "service" && text != "schedule")
                return Error{fmt::format("{} is neither service nor schedule", quote(text))};
              options.latency_from = text == "schedule" ? LatencyFrom::kSchedule : LatencyFrom::kService;
              return {};
            });
  flags.add({"group-by", "KEY", "a report of each group, by " + group_key_names()},
            assign(options.group_key, find_group_key));
  flags.add({"fail-if", "LIMIT", "end with status 4 when it holds, as in p99>300ms, success<99%, errors>0; repeatable"},
            [&options](std::string_view text) -> Expected<void> {
              auto threshold = Threshold::parse(text);
              if (!threshold) return std::move(threshold).error();
              options.thresholds.push_back(*std::move(threshold));
              return {};
            });
}

std::optional<std::string> find_conflict(const ReportOptions& options, const ReportPlan& plan, std::size_t files) {
  if (plan.comparer != nullptr) {
    if (files != 2)
      return fmt::format("-type={}: want two files, the base and what is compared with it, not {}", options.type,
                         files);
    if (options.every.count() > 0) return fmt::format("-every: -type={} reports once, on whole files", options.type);
    if (options.group_key != nullptr) return fmt::format("-group-by: -type={} has no groups", options.type);
    if (!options.buckets.empty()) return fmt::format("-buckets: -type={} has no histogram", options.type);
    return std::nullopt;
  }
  const auto needs_base = std::find_if(options.thresholds.begin(), options.thresholds.end(),
                                       [](const Threshold& threshold) { return threshold.needs_base(); });
  if (needs_base != options.thresholds.end())
    return fmt::format("-fail-if {}: a change needs a base: want -type=compare or compare-json", needs_base->text());
  if (options.quantiles && !plan.reporter->shows_quantiles)
    return fmt::format("-quantiles: there are none in a report of -type={}: want text, json, compare or compare-json",
                       plan.reporter->name);
  return std::nullopt;
}

}  // namespace pepe
