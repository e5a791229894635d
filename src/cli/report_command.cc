#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_status.h"
#include "cli/interrupt.h"
#include "cli/output_file.h"
#include "cli/result_inputs.h"
#include "cli/thresholds.h"
#include "pepe/base/saturate.h"
#include "pepe/base/text.h"
#include "pepe/metrics/metrics.h"
#include "pepe/report/reporter.h"

namespace pepe {
namespace {

struct ReportOptions {
  std::string type{"text"};
  std::string buckets;
  std::string output{"stdout"};
  Nanos every{0};
  const GroupKey* group_key{nullptr};
  std::optional<std::vector<ReportQuantile>> quantiles;
  LatencyFrom latency_from{LatencyFrom::kService};
  std::vector<Threshold> thresholds;
};

/// What was read: as a whole, or by group.
class Gathered {
 public:
  Gathered(const ReportPlan& plan, const ReportOptions& options) : whole_{plan.bounds}, reporter_{*plan.reporter} {
    if (options.group_key != nullptr) groups_.emplace(*options.group_key, plan.bounds);
    style_.latency_from = options.latency_from;
    if (options.quantiles) style_.quantiles = *options.quantiles;
  }

  void add(const Result& result, Nanos latency) {
    groups_ ? groups_->add(result, latency) : whole_.add(result, latency);
  }
  void add(const RunFacts& facts) { whole_.add(facts); }
  std::span<const RunFacts> runs() const { return whole_.runs(); }

  void write(std::string& out) const {
    if (!by_group()) return reporter_.write(whole_, style_, out);
    write_groups(reporter_, *groups_, style_, out);
  }

  /// Lists the thresholds that are broken, those of each group apart. Returns the exit status.
  int judge(const std::vector<Threshold>& thresholds) const {
    if (!by_group()) return judge(whole_, "", thresholds);
    int status = kExitOk;
    for (const ResultGroup& group : groups_->groups())
      status = std::max(status, judge(group.metrics, group.name + ": ", thresholds));
    return status;
  }

 private:
  // Where there are no results there is no group to say so.
  bool by_group() const { return groups_ && !groups_->groups().empty(); }

  static int judge(const Metrics& metrics, const std::string& prefix, const std::vector<Threshold>& thresholds) {
    int status = kExitOk;
    for (const Threshold& threshold : thresholds) {
      const auto broken = threshold.broken_by(metrics);
      if (!broken) continue;
      print_note("-fail-if " + prefix + *broken);
      status = kExitBroken;
    }
    return status;
  }

  Metrics whole_;
  std::optional<GroupedMetrics> groups_;
  const ReporterEntry& reporter_;
  ReportStyle style_;
};

void add_report_flags(FlagSet& flags, ReportOptions& options) {
  flags.begin_group("Flags");
  flags.add_string({"type", "TYPE", "text, json, hist[0,1ms,10ms] or hdrplot", "text"}, options.type);
  flags.add_string({"buckets", "LIST", "lower bounds of the histogram of -type=hist and of json, as in [0,1ms,10ms]"},
                   options.buckets);
  flags.add_duration({"every", "D", "report what there is so far at each interval, then as a whole"}, options.every);
  flags.add_string({"output", "FILE", "where the report goes", "stdout"}, options.output);
  flags.add({"quantiles", "LIST", "percentiles of the latencies in text and json", "50,90,95,99"},
            [&options](std::string_view text) -> Expected<void> {
              auto quantiles = parse_quantiles(text);
              if (!quantiles) return std::move(quantiles).error();
              options.quantiles = *std::move(quantiles);
              return {};
            });
  flags.add({"latency", "FROM", "from when latencies count: service (the sending) or schedule (when due)", "service"},
            [&options](std::string_view text) -> Expected<void> {
              if (text != "service" && text != "schedule")
                return Error{fmt::format("{} is neither service nor schedule", quote(text))};
              options.latency_from = text == "schedule" ? LatencyFrom::kSchedule : LatencyFrom::kService;
              return {};
            });
  flags.add({"group-by", "KEY", "a report of each group, by " + group_key_names()},
            [&options](std::string_view text) -> Expected<void> {
              auto key = find_group_key(text);
              if (!key) return std::move(key).error();
              options.group_key = *key;
              return {};
            });
  flags.add({"fail-if", "LIMIT", "end with status 4 when it holds, as in p99>300ms, success<99%, errors>0; repeatable"},
            [&options](std::string_view text) -> Expected<void> {
              auto threshold = Threshold::parse(text);
              if (!threshold) return std::move(threshold).error();
              options.thresholds.push_back(*std::move(threshold));
              return {};
            });
}

/// Where reports go, and when.
class Report {
 public:
  Report(OutputFile output, Nanos every)
      : output_{std::move(output)}, every_{std::min(every, kLongest)}, due_{Clock::now() + every_} {}

  /// The hook of every read: writes an interim report when one is due. Returns the time until the next.
  Expected<std::optional<Nanos>> on_read(const Gathered& gathered) {
    if (every_.count() <= 0) return std::optional<Nanos>{};
    const Instant now = Clock::now();
    if (now >= due_) {
      // A clock that ran on while the process was stopped is caught up with one report, not with a burst.
      due_ = std::max(due_ + every_, now);
      if (auto written = write_interim(gathered); !written) {
        failure_ = written.error();
        return *failure_;
      }
    }
    return std::optional<Nanos>{std::max(due_ - now, Nanos{0})};
  }

  Expected<void> write(const Gathered& gathered) {
    std::string text;
    gathered.write(text);
    return output_.write(text);
  }

  /// Why an interim report could not be written.
  const std::optional<Error>& failure() const { return failure_; }
  OutputFile& output() { return output_; }

 private:
  Expected<void> write_interim(const Gathered& gathered) {
    if (output_.is_terminal()) {
      if (auto cleared = output_.write_raw("\x1b[2J\x1b[0;0H"); !cleared) return cleared;
    }
    return write(gathered);
  }

  // Instants do not reach as far as durations; nobody waits for the next report that long.
  static constexpr Nanos kLongest = std::chrono::hours{24 * 365 * 100};

  OutputFile output_;
  Nanos every_;
  Instant due_;
  std::optional<Error> failure_;
};

/// Hands every result of `inputs` to `add`, with the latency that counts.
template <class Add>
Expected<void> read_latencies(ResultInputs& inputs, LatencyFrom from, Add add) {
  if (from == LatencyFrom::kService) return inputs.read_all([&add](const Result& one) { add(one, one.latency); });
  return inputs.read_all([&add](const Result& one) { add(one, one.latency_from_due()); });
}

/// Says what latencies from the schedule can't show.
void remark_on_schedule(std::span<const RunFacts> runs) {
  std::uint64_t missed = 0;
  bool closed = false;
  for (const RunFacts& run : runs) {
    missed = saturating_add(missed, run.missed);
    closed = closed || run.rate.unpaced();
  }
  if (missed > 0) print_note(fmt::format("{} hits missed: due and never sent, they are in no latency", missed));
  if (closed) print_note("a closed loop (-rate=0) has no schedule: its latencies count from the sending");
}

int make_report(const ReportPlan& plan, const ReportOptions& options, std::vector<std::string> names) {
  Gathered gathered{plan, options};
  std::optional<Report> report;
  ResultInputsOptions reading;
  reading.decode = {.bodies = false, .headers = false};
  reading.need_lag = options.latency_from == LatencyFrom::kSchedule;
  reading.facts = [&gathered](const RunFacts& facts) { gathered.add(facts); };
  reading.hooks.before_read = [&]() -> Expected<std::optional<Nanos>> {
    return report ? report->on_read(gathered) : std::optional<Nanos>{};
  };

  auto inputs = ResultInputs::open(std::move(names), std::move(reading));
  if (!inputs) return interrupt::happened() ? kExitOk : fail(inputs.error().text());
  auto output = OutputFile::open(options.output, inputs->ids());
  if (!output) return fail(output.error().text());
  report.emplace(*std::move(output), options.every);

  const Expected<void> read =
      read_latencies(*inputs, options.latency_from,
                     [&gathered](const Result& result, Nanos latency) { gathered.add(result, latency); });
  if (report->failure()) return report->output().fail(*report->failure());
  if (const auto remark = inputs->gap_remark()) print_note(*remark);
  if (options.latency_from == LatencyFrom::kSchedule) remark_on_schedule(gathered.runs());
  // What was read before the damage is worth a report; that something is wrong is said, and by the status.
  if (read || inputs->given() > 0) {
    auto written = report->write(gathered);
    if (written) written = report->output().close();
    if (!written) return report->output().fail(written.error());
  }
  // Broken limits are named also where results are lost; the status is then that of the loss.
  const int status = gathered.judge(options.thresholds);
  if (!read) return fail(read.error().text());
  return status;
}

}  // namespace

int run_report(std::span<const std::string> args, const GlobalOptions& /*global*/) {
  ReportOptions options;
  FlagSet flags{"pepe report [flags] [FILE...]",
                "Reports on results that attack wrote, in any encoding; from standard input without a FILE."};
  flags.set_examples({"pepe report out.bin", "pepe report -type='hist[0,1ms,10ms,100ms]' monday.bin tuesday.bin",
                      "pepe report -group-by=target out.bin", "pepe report -quantiles=50,99,99.9,99.99 out.bin",
                      "pepe report -fail-if='p99>300ms' -fail-if='success<99%' out.bin"});
  add_report_flags(flags, options);
  ParsedArguments parsed;
  if (const auto status = parse_or_explain(flags, args, parsed)) return *status;
  // Before any file is touched, so that a slip of the pen costs nothing.
  const auto plan = plan_report(options.type, options.buckets);
  if (!plan) return fail(plan.error().text());
  if (options.quantiles && !plan->reporter->shows_quantiles)
    return explain_fault(flags,
                         fmt::format("-quantiles: there are none in a report of -type={}", plan->reporter->name));
  interrupt::install();
  return make_report(*plan, options, std::move(parsed.words));
}

}  // namespace pepe
