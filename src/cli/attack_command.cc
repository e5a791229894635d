#include <fmt/format.h>
#include <unistd.h>

#include "cli/attack_flags.h"
#include "cli/attack_notes.h"
#include "cli/attack_targets.h"
#include "cli/chunk_sinks.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_status.h"
#include "cli/flag_values.h"
#include "cli/load_flags.h"
#include "cli/output_file.h"
#include "cli/progress.h"
#include "cli/start_values.h"
#include "cli/startup_code.h"
#include "cli/version.h"
#include "pepe/base/text.h"
#include "pepe/report/reporter.h"

namespace pepe {
namespace {

constexpr std::string_view kNative = "msgpack";

/// The results on their way out, as the flags and the terminal ask for.
class ResultOutput {
 public:
  /// `codec` is that of -encoding.
  ResultOutput(OutputFile file, const AttackFlags& flags, const CodecEntry& codec) : file_{std::move(file)} {
    const bool readable = flags.encoding_given && codec.name != kNative && codec.name != "gob";
    if (file_.is_stdout() && file_.is_terminal() && !readable) {
      // Nobody reads binary results off a screen: figures are kept instead, and reported at the end.
      auto figures = std::make_unique<MetricsSink>();
      figures_ = figures.get();
      sink_ = std::move(figures);
    } else if (codec.name == kNative) {
      auto native = std::make_unique<FileSink>(
          file_, flags.options.warmup > Nanos{0} ? FirstWrite::kAtOnce : FirstWrite::kWithResults);
      native_ = native.get();
      sink_ = std::move(native);
    } else {
      sink_ = std::make_unique<TranscodingSink>(file_, codec);
    }
  }

  ChunkSink& sink() { return *sink_; }
  OutputFile& file() { return file_; }

  /// After the attack: the report, where there is one, and the end of the file.
  Expected<void> finish() {
    if (native_ != nullptr) {
      if (auto written = native_->finish(); !written) return written;
    }
    if (figures_ != nullptr) {
      const auto plan = plan_report("text", "");
      if (!plan) return plan.error();
      std::string text;
      plan->reporter->write(figures_->metrics(), {}, text);
      if (auto written = file_.write(text); !written) return written;
    }
    return file_.close();
  }

 private:
  OutputFile file_;
  std::unique_ptr<ChunkSink> sink_;
  // Which kind sink_ is.
  FileSink* native_{nullptr};
  const MetricsSink* figures_{nullptr};
};

bool shows_progress(ProgressMode mode) {
  return mode == ProgressMode::kOn || (mode == ProgressMode::kAuto && is_terminal(STDERR_FILENO));
}

/// Says what came of the run. Returns the exit status: failed hits do not change it.
int conclude(const AttackSummary& summary) {
  for (const std::string& note : attack_notes(summary)) print_note(note);
  return summary.targets_error.empty() ? kExitOk : fail(summary.targets_error);
}

/// What the live line says is asked for: of a constant rate the rate itself.
ProgressPlan progress_plan(const AttackOptions& options, const Load& load) {
  ProgressPlan plan{.duration = options.duration};
  if (!load.shape.empty()) {
    plan.hits_before = [&options, &load](Nanos offset) {
      return options.shard.part_of(load.pacer->hits_before(offset));
    };
  } else if (!load.rate.unpaced()) {
    plan.asked = load.rate.per_second() / static_cast<double>(options.shard.count);
  }
  return plan;
}

int run_to_end(const AttackFlags& flags, const Load& load, const AttackTargets& targets, ResultOutput& output) {
  const AttackOptions& options = flags.options;
  AttackEvents events;
  events.cancel_targets = targets.cancel;
  std::optional<LiveSink> live;
  std::optional<ProgressLine> progress;
  if (shows_progress(flags.progress)) {
    live.emplace(output.sink());
    progress.emplace(progress_plan(options, load), is_terminal(STDERR_FILENO), [&live] { return live->take_glance(); });
    events.progress = [&progress](const AttackProgress& counts) { progress->update(counts); };
  }
  events.notice = [&progress](std::string_view text) {
    if (progress) progress->clear();
    print_note(text);
  };
  ChunkSink& sink = live ? static_cast<ChunkSink&>(*live) : output.sink();

  const auto summary = attack(options, *targets.targeter, *load.pacer, sink, events);
  if (progress) progress->clear();
  if (!summary) return output.file().fail(summary.error());
  if (auto finished = output.finish(); !finished) return output.file().fail(finished.error());
  return conclude(*summary);
}

/// Everything between the flags and the first hit, in vegeta's order. Nothing is sent, and no output is
/// touched, before all that can be wrong with the arguments was looked at.
int start_attack(AttackFlags& flags, const Load& load, const std::vector<std::string>& urls) {
  if (load.pacer->unpaced()) {
    if (const auto checked = check_rate(flags); !checked) return fail(checked.error().text());
  }
  if (const auto checked = check_start(flags); !checked) return fail(checked.error().text());
  if (!flags.resolvers.empty()) {
    auto resolvers = parse_resolvers(flags.resolvers);
    if (!resolvers) return fail(resolvers.error().text());
    flags.options.resolvers = *std::move(resolvers);
  }
  const CodecEntry* codec = find_codec(flags.encoding);
  if (codec == nullptr) return fail(unknown_encoding("attack", flags.encoding).text());
  auto targets = open_attack_targets(flags, urls);
  if (!targets) return fail(targets.error().text());
  auto file = OutputFile::open(flags.output, targets->files);
  if (!file) return fail(opening_error(flags.output, file.error()).text());
  ResultOutput output{*std::move(file), flags, *codec};
  if (flags.options.duration.count() < 0) {
    print_note(fmt::format("-duration={} is negative: the attack goes on until a signal",
                           format_duration(flags.options.duration)));
  }
  give_back_startup_code();
  return run_to_end(flags, load, *targets, output);
}

int refuse(const Error& fault) {
  print_error_text(one_line(fault.text()));
  return kExitUsage;
}

}  // namespace

int run_attack(std::span<const std::string> args, const GlobalOptions& global) {
  AttackFlags flags;
  FlagSet set{"pepe attack [flags] [URL...]",
              "Sends hits to the URLs, or to the targets of a list, at a rate; writes a result for each."};
  set.set_examples({"pepe attack -rate=100 -duration=5s http://127.0.0.1:8080/ | pepe report",
                    "pepe attack -targets=targets.txt -rate=500 -duration=30s -output=out.bin",
                    "pepe attack -rate=0 -max-workers=64 -duration=5s http://127.0.0.1:8080/ | pepe report"});
  add_attack_flags(set, flags);
  ParsedArguments parsed;
  if (const auto status = parse_or_explain(set, args, parsed)) return *status;
  const auto words = sort_attack_words(parsed.words, flags.targets_given);
  if (!words) return refuse(words.error());
  const auto load = make_load(flags, parsed.given);
  if (!load) return refuse(load.error());
  flags.options.rate = load->rate;
  flags.options.duration = load->duration;
  flags.options.shape = load->shape;
  if (flags.output == "stdout" && silence_notes_among_results()) flags.progress = ProgressMode::kOff;
  for (const std::string& word : words->ignored)
    print_note(fmt::format("{} is no target and is ignored", quote(without_value(word))));
  flags.options.cpus = global.cpus;
  flags.options.handle_signals = true;
  flags.options.flags = flags_as_given(parsed.given);
  flags.options.version = version();
  return start_attack(flags, *load, words->urls);
}

}  // namespace pepe
