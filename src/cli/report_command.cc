#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cli/commands.h"
#include "cli/comparison_report.h"
#include "cli/console.h"
#include "cli/exit_status.h"
#include "cli/interrupt.h"
#include "cli/output_file.h"
#include "cli/report_options.h"
#include "cli/report_reading.h"
#include "pepe/metrics/metrics.h"
#include "pepe/report/reporter.h"

namespace pepe {
namespace {

/// What was read: as a whole, or by group.
class Gathered {
 public:
  Gathered(const ReportPlan& plan, const ReportOptions& options)
      : whole_{plan.bounds}, reporter_{*plan.reporter}, style_{options.style()} {
    if (options.group_key != nullptr) groups_.emplace(*options.group_key, plan.bounds);
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
    if (!by_group()) return pepe::judge(thresholds, whole_);
    int status = kExitOk;
    for (const ResultGroup& group : groups_->groups())
      status = std::max(status, pepe::judge(thresholds, group.metrics, group.name + ": "));
    return status;
  }

 private:
  // Where there are no results there is no group to say so.
  bool by_group() const { return groups_ && !groups_->groups().empty(); }

  Metrics whole_;
  std::optional<GroupedMetrics> groups_;
  const ReporterEntry& reporter_;
  ReportStyle style_;
};

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

int make_report(const ReportPlan& plan, const ReportOptions& options, std::vector<std::string> names) {
  Gathered gathered{plan, options};
  std::optional<Report> report;
  ResultInputsOptions reading = reading_for_report(options);
  reading.facts = [&gathered](const RunFacts& facts) { gathered.add(facts); };
  reading.hooks.before_read = [&]() -> Expected<std::optional<Nanos>> {
    return report ? report->on_read(gathered) : std::optional<Nanos>{};
  };

  auto inputs = ResultInputs::open(std::move(names), std::move(reading));
  if (!inputs) return fail(inputs.error().text());
  auto output = OutputFile::open(options.output, inputs->ids());
  if (!output) return fail(output.error().text());
  report.emplace(*std::move(output), options.every);

  const Expected<void> read =
      read_latencies(*inputs, options.latency_from,
                     [&gathered](const Result& result, Nanos latency) { gathered.add(result, latency); });
  if (report->failure()) return report->output().fail(*report->failure());
  if (const auto remark = inputs->gap_remark()) print_note(*remark);
  remark_on_schedule(options, gathered.runs());
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
                      "pepe report -type=compare -fail-if='p99>+5%' base.bin new.bin",
                      "pepe report -fail-if='p99>300ms' -fail-if='success<99%' out.bin"});
  add_report_flags(flags, options);
  ParsedArguments parsed;
  if (const auto status = parse_or_explain(flags, args, parsed)) return *status;
  // Before any file is touched, so that a slip of the pen costs nothing.
  const auto plan = plan_report(options.type, options.buckets);
  if (!plan) return fail(plan.error().text());
  if (const auto conflict = find_conflict(options, *plan, parsed.words.size())) return explain_fault(flags, *conflict);
  interrupt::install();
  if (plan->comparer != nullptr) return make_comparison(*plan->comparer, options, parsed.words);
  return make_report(*plan, options, std::move(parsed.words));
}

}  // namespace pepe
