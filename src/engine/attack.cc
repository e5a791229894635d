#include "pepe/engine/attack.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <set>

#include "engine/attack_state.h"
#include "engine/conductor.h"
#include "engine/prometheus.h"
#include "engine/shortage.h"
#include "engine/signals.h"
#include "engine/start_time.h"

#include "pepe/base/text.h"

namespace pepe {
namespace {

// How long the clock of a run waits for the first target of a lazy list. A silent list does not hold up the run.
constexpr Nanos kListHeadStart = std::chrono::milliseconds{250};

std::int64_t wall_clock_nanos() {
  return std::chrono::duration_cast<Nanos>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::uint64_t random_run_id() {
  std::uint64_t id = 0;
  if (::getentropy(&id, sizeof id) != 0) id = static_cast<std::uint64_t>(wall_clock_nanos());
  return id;
}

// Says, in the facts, whether the numbers are those of the server or those of the generator.
void judge(AttackSummary& summary, const AttackState& attack, std::size_t stalls, Nanos held_up) {
  constexpr double kBusyLimit = 0.95;
  constexpr Nanos kLongHeldUp = std::chrono::milliseconds{100};
  RunFacts& facts = summary.facts;
  const bool unpaced = attack.pacer.unpaced();
  double busiest = 0;
  for (const ThreadFacts& thread : facts.threads) busiest = std::max(busiest, thread.peak_busy_share);
  if (summary.out_of_targets && (facts.missed > 0 || facts.sent == 0)) {
    facts.limited = true;
    facts.limit = "the list of targets came too slowly";
  } else if (facts.missed > 0) {
    facts.limited = true;
    facts.limit = attack.options.max_connections > 0 ? "all -max-workers or -max-connections were busy"
                                                     : "all -max-workers were busy";
  } else if (stalls > 0 && (facts.late > 0 || unpaced)) {
    facts.limited = true;
    facts.limit = "the output took results more slowly than they were made";
  } else if (busiest >= kBusyLimit && (unpaced || facts.late > 0)) {
    facts.limited = true;
    facts.limit = "a sending thread was busy all the time";
  } else if (unpaced && held_up >= kLongHeldUp) {
    // With a schedule there are late hits to show it. Here the hits in flight took so much longer, all of them.
    facts.limited = true;
    facts.limit = fmt::format("the machine held it up for {}", format_duration(round_duration(held_up)));
  }
}

// The rate of one shard: as many hits in `count` times the time.
Rate part_of(Rate whole, const Shard& shard) {
  if (whole.per > Nanos::max() / static_cast<Nanos::rep>(shard.count)) return {whole.hits, Nanos::max()};
  return {whole.hits, whole.per * static_cast<Nanos::rep>(shard.count)};
}

// What is known before the first hit.
void add_plan(const AttackState& attack, RunFacts& facts) {
  facts.version = attack.options.version;
  facts.run_id = attack.run_id;
  facts.attack = attack.options.name;
  facts.flags = attack.options.flags;
  facts.start = attack.time.start;
  facts.rate = part_of(attack.options.rate, attack.options.shard);
  facts.pacer = attack.options.shape;
  facts.duration = std::max(Nanos{0}, attack.options.duration);
}

void write_facts(const RunFacts& facts, Sink& sink) {
  std::string chunk;
  append_facts_chunk(facts, chunk);
  sink.force(std::move(chunk));
}

Expected<void> prepare_targets(AttackState& attack, Targeter& targeter) {
  auto targets = read_all_targets(targeter);
  if (!targets) return std::move(targets).error();
  attack.targets = *std::move(targets);
  attack.requests.reserve(attack.targets.size());
  for (const Target& target : attack.targets) attack.requests.push_back(make_request(target, attack.request_options));
  return {};
}

void say(const AttackEvents& events, const std::string& text) {
  if (events.notice && !text.empty()) events.notice(text);
}

// What a user should know about his targets before the first hit: headers that cannot be true, a proxy in between.
void say_about_targets(const AttackState& attack, const AttackEvents& events) {
  bool framing_said = false;
  std::set<Origin> origins;
  std::set<std::string> said;
  for (std::size_t i = 0; i < attack.targets.size(); ++i) {
    for (const HeaderField& field : attack.targets[i].headers) {
      if (framing_said || (field.name != "Content-Length" && field.name != "Transfer-Encoding")) continue;
      framing_said = true;
      say(events, fmt::format("the header {} of {} is not sent: the framing follows the body (and -chunked)",
                              field.name, without_credentials(attack.targets[i].url)));
    }
    if (!attack.requests[i].fault.empty() || !origins.insert(attack.requests[i].origin).second) continue;
    attack.plan->prepare(attack.requests[i].origin);
    const std::string notice = attack.plan->notice(attack.requests[i].origin);
    if (said.insert(notice).second) say(events, notice);
  }
}

// Processors that this process may use: its affinity mask, or -cpus.
unsigned processors(const AttackOptions& options) {
  if (options.cpus > 0) return options.cpus;
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
}

// No more threads than there are slots to share, and one for a list that is read hit by hit.
unsigned bounded_threads(const AttackOptions& options, unsigned wanted) {
  std::uint64_t threads = std::max(1U, wanted);
  threads = std::min(threads, std::max<std::uint64_t>(1, options.max_workers));
  if (options.max_connections > 0) threads = std::min(threads, static_cast<std::uint64_t>(options.max_connections));
  return options.lazy ? 1U : static_cast<unsigned>(threads);
}

// nullptr: none was asked for.
Expected<std::unique_ptr<PrometheusExporter>> open_exporter(const AttackOptions& options, ChunkSink& out,
                                                            const AttackEvents& events) {
  if (options.prometheus_address.empty()) return std::unique_ptr<PrometheusExporter>{};
  auto exporter = make_prometheus_exporter(options.prometheus_address, out);
  if (exporter && options.prometheus_address.ends_with(":0"))
    say(events, fmt::format("prometheus: listening on port {}", (*exporter)->port()));
  return exporter;
}

Expected<void> run_workers(const AttackOptions& options, Conductor& conductor) {
  const bool automatic = options.threads == 0;
  const unsigned threads = bounded_threads(options, automatic ? 1 : options.threads);
  // A limit of connections is shared out once, at the start.
  const bool may_grow = automatic && options.max_connections <= 0;
  auto ran = conductor.run(threads, may_grow ? bounded_threads(options, processors(options)) : threads);
  conductor.say_shortages();
  return ran;
}

// What became of the run, stated in the stream as well.
AttackSummary conclude(const AttackState& attack, const Conductor& conductor, Sink& sink) {
  AttackSummary summary = conductor.summarise();
  summary.facts.run_id = attack.run_id;
  summary.facts.complete = true;
  judge(summary, attack, sink.stalls(), conductor.held_up());
  write_facts(summary.facts, sink);
  add_plan(attack, summary.facts);
  return summary;
}

// From here on they are the conductor's. Before there is a thread, which could take one before it has said that it does
// not want any. Not before the targets are there: they may be a while in coming, and until then nothing is lost.
void hold_signals_back(const AttackOptions& options) {
  if (options.handle_signals) leave_signals_to_others();
}

Expected<AttackSummary> run_attack(const AttackOptions& options, Targeter& targeter, const Pacer& pacer, ChunkSink& out,
                                   const AttackEvents& events) {
  auto plan = make_dial_plan(options);
  if (!plan) return std::move(plan).error();
  AttackState state{.options = options,
                    .pacer = pacer,
                    .request_options = {.attack = options.name,
                                        .user_agent = "pepe/" + options.version,
                                        .keepalive = options.keepalive,
                                        .chunked = options.chunked,
                                        .plan = plan->get()},
                    .targets = {},
                    .requests = {},
                    .plan = plan->get(),
                    .run_id = random_run_id(),
                    .time = {}};
  if (!options.lazy) {
    if (auto prepared = prepare_targets(state, targeter); !prepared) return std::move(prepared).error();
    say_about_targets(state, events);
  }
  hold_signals_back(options);
  auto exporter = open_exporter(options, out, events);
  if (!exporter) return std::move(exporter).error();

  Conductor conductor{state, events};
  Sink sink{*exporter ? **exporter : out, [&] { conductor.stop_soon(Stop::kAtOnce); }};
  state.sink = &sink;
  std::unique_ptr<TargetFeed> feed;
  if (options.lazy) {
    feed = std::make_unique<TargetFeed>(
        targeter, state.request_options, options.shard, [&] { conductor.wake_workers_soon(); }, events.cancel_targets);
    state.feed = feed.get();
    feed->await_first(kListHeadStart);
  }
  const auto time = await_start(options, events.notice);
  if (!time) return time.error();
  state.time = *time;
  RunFacts planned;
  add_plan(state, planned);
  write_facts(planned, sink);

  const auto ran = run_workers(options, conductor);
  AttackSummary summary = conclude(state, conductor, sink);
  if (feed) summary.targets_error = feed->error();
  if (auto error = sink.finish()) return *std::move(error);
  if (!ran) return ran.error();
  return summary;
}

}  // namespace

// Asio and the standard library throw where descriptors, threads or memory are missing at the start; on the workers'
// threads nothing comes this far.
Expected<AttackSummary> attack(const AttackOptions& options, Targeter& targeter, const Pacer& pacer, ChunkSink& out,
                               const AttackEvents& events) {
  try {
    return run_attack(options, targeter, pacer, out, events);
  } catch (const std::exception&) {
    return shortage_error("attack");
  }
}

}  // namespace pepe
