#include "pepe/engine/attack.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <random>
#include <set>
#include <thread>

#include "engine/asio.h"
#include "engine/attack_state.h"
#include "engine/worker.h"

namespace pepe {
namespace {

constexpr Nanos kProgressInterval = std::chrono::milliseconds{100};
constexpr Nanos kBusyWindow = std::chrono::seconds{1};

std::int64_t wall_clock_nanos() {
  return std::chrono::duration_cast<Nanos>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::uint64_t random_run_id() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

// Splits a limit so that the parts of all workers add up to it exactly. 0 stays 0: no limit.
std::uint64_t part_of(std::uint64_t limit, unsigned parts, unsigned index) {
  return limit / parts + (index < limit % parts ? 1 : 0);
}

/// One worker with its thread, and what its thread's clock says.
struct Crew {
  std::unique_ptr<Worker> worker;
  std::thread thread;
  clockid_t cpu_clock{};
  Nanos window_cpu{0};
  Nanos window_spun{0};
  double peak_busy{0};

  Nanos cpu() const {
    timespec spent{};
    return ::clock_gettime(cpu_clock, &spent) == 0 ? std::chrono::seconds{spent.tv_sec} + Nanos{spent.tv_nsec} : Nanos{0};
  }
  Nanos spun() const { return Nanos{worker->counters().spun.load(std::memory_order_relaxed)}; }
};

/// Runs the workers of one attack from the thread that asked for it: signals, progress, the end.
class Conductor {
 public:
  Conductor(AttackState& attack, const AttackEvents& events) : attack_{attack}, events_{events}, signals_{io_}, ticker_{io_} {}

  /// Makes the workers. Before anything may call stop() or wake_workers() from another thread.
  void hire(unsigned threads);
  void run();
  void stop(Stop stop);
  void wake_workers();
  AttackSummary summarise() const;
  /// What the machine lacked, and the remedy.
  void say_shortages() const;

 private:
  void start_worker(unsigned index, unsigned count);
  void await_signal();
  void await_tick();
  void on_tick();
  void sample_busy_shares(Instant now);
  AttackProgress progress() const;

  AttackState& attack_;
  const AttackEvents& events_;
  asio::io_context io_{1};
  asio::signal_set signals_;
  asio::steady_timer ticker_;
  std::vector<std::unique_ptr<Crew>> crews_;
  std::size_t running_{0};
  Instant window_start_;
};

void Conductor::hire(unsigned threads) {
  for (unsigned i = 0; i < threads; ++i) start_worker(i, threads);
}

void Conductor::run() {
  if (attack_.options.handle_signals) {
    signals_.add(SIGINT);
    signals_.add(SIGTERM);
    await_signal();
  }
  window_start_ = attack_.start_instant;
  running_ = crews_.size();
  for (auto& crew : crews_) {
    crew->thread = std::thread{[this, worker = crew->worker.get()] {
      worker->run();
      asio::post(io_, [this] { --running_; });
    }};
    ::pthread_getcpuclockid(crew->thread.native_handle(), &crew->cpu_clock);
  }
  await_tick();
  while (running_ > 0) io_.run_one();
  sample_busy_shares(Clock::now());
  for (auto& crew : crews_) crew->thread.join();
}

void Conductor::start_worker(unsigned index, unsigned count) {
  const AttackOptions& options = attack_.options;
  WorkerShare share;
  if (options.max_workers != UINT64_MAX) share.max_in_flight = part_of(options.max_workers, count, index);
  const auto idle = options.connections <= 0 ? 2U : static_cast<std::uint64_t>(options.connections);
  share.max_idle = static_cast<std::size_t>(std::max<std::uint64_t>(1, part_of(idle, count, index)));
  if (options.max_connections > 0)
    share.max_open = static_cast<std::size_t>(part_of(static_cast<std::uint64_t>(options.max_connections), count, index));
  crews_.push_back(std::make_unique<Crew>());
  crews_.back()->worker = std::make_unique<Worker>(attack_, index, share);
}

void Conductor::stop(Stop stop) {
  if (stop == Stop::kNoNewHits)
    attack_.stop_offset.store((Clock::now() - attack_.start_instant).count(), std::memory_order_release);
  if (attack_.stop.load() < stop) attack_.stop.store(stop);
  wake_workers();
}

void Conductor::wake_workers() {
  for (auto& crew : crews_) crew->worker->wake();
}

void Conductor::await_signal() {
  signals_.async_wait([this](const error_code& error, int) {
    if (error) return;
    if (attack_.stop.load() == Stop::kNo) {
      stop(Stop::kNoNewHits);
      return await_signal();
    }
    stop(Stop::kAtOnce);
    // A third one finds the system's own handler: nothing here can hold the process up.
    signals_.clear();
  });
}

void Conductor::await_tick() {
  ticker_.expires_after(kProgressInterval);
  ticker_.async_wait([this](const error_code& error) {
    if (error) return;
    on_tick();
    await_tick();
  });
}

void Conductor::on_tick() {
  const Instant now = Clock::now();
  if (now - window_start_ >= kBusyWindow) sample_busy_shares(now);
  if (events_.progress) events_.progress(progress());
}

void Conductor::sample_busy_shares(Instant now) {
  const double window = static_cast<double>((now - window_start_).count());
  window_start_ = now;
  for (auto& crew : crews_) {
    const Nanos cpu = crew->cpu();
    const Nanos spun = crew->spun();
    const Nanos busy = cpu - crew->window_cpu - (spun - crew->window_spun);
    if (window > 0) crew->peak_busy = std::clamp(static_cast<double>(busy.count()) / window, crew->peak_busy, 1.0);
    crew->window_cpu = cpu;
    crew->window_spun = spun;
  }
}

AttackProgress Conductor::progress() const {
  AttackProgress progress{.elapsed = Clock::now() - attack_.start_instant};
  for (const auto& crew : crews_) {
    const WorkerCounters& counters = crew->worker->counters();
    // done first: it never exceeds a later look at sent.
    progress.done += counters.done.load(std::memory_order_relaxed);
    progress.failed += counters.failed.load(std::memory_order_relaxed);
    progress.sent += counters.sent.load(std::memory_order_relaxed);
  }
  progress.in_flight = progress.sent - std::min(progress.sent, progress.done);
  return progress;
}

AttackSummary Conductor::summarise() const {
  AttackSummary summary;
  RunFacts& facts = summary.facts;
  Instant end = attack_.start_instant;
  bool out_of_slots = false;
  for (const auto& crew : crews_) {
    const WorkerCounters& counters = crew->worker->counters();
    facts.sent += counters.sent.load();
    summary.failed += counters.failed.load();
    facts.late += counters.late.load();
    facts.worst_lag = std::max(facts.worst_lag, Nanos{counters.worst_lag.load()});
    end = std::max(end, crew->worker->last_done());
    out_of_slots = out_of_slots || crew->worker->ran_out_of_slots();
  }
  facts.elapsed = end - attack_.start_instant;
  for (const auto& crew : crews_) {
    const double wall = static_cast<double>(std::max(facts.elapsed, Nanos{1}).count());
    const double busy = static_cast<double>((crew->window_cpu - crew->window_spun).count()) / wall;
    facts.threads.push_back({std::clamp(busy, 0.0, 1.0), std::max(crew->peak_busy, std::clamp(busy, 0.0, 1.0))});
  }
  if (out_of_slots) {
    const std::uint64_t planned = attack_.pacer.hits_before(attack_.options.duration);
    facts.missed = planned - std::min(planned, facts.sent);
  }
  return summary;
}

void Conductor::say_shortages() const {
  std::uint64_t descriptors = 0;
  std::uint64_t ports = 0;
  for (const auto& crew : crews_) {
    descriptors += crew->worker->counters().without_descriptor.load();
    ports += crew->worker->counters().without_port.load();
  }
  if (!events_.notice) return;
  if (descriptors > 0)
    events_.notice(fmt::format("{} hits found no free file descriptor: raise the limit of open files (ulimit -n)", descriptors));
  if (ports > 0)
    events_.notice(fmt::format("{} hits found no free local port: keep connections alive, widen net.ipv4.ip_local_port_range, "
                               "or send from more addresses",
                               ports));
}

// Says, in the facts, whether the numbers are those of the server or those of the generator.
void judge(RunFacts& facts, const AttackOptions& options, std::size_t stalls) {
  constexpr double kBusyLimit = 0.95;
  double busiest = 0;
  for (const ThreadFacts& thread : facts.threads) busiest = std::max(busiest, thread.peak_busy_share);
  if (facts.missed > 0) {
    facts.limited = true;
    facts.limit = options.max_connections > 0 ? "all -max-workers or -max-connections were busy" : "all -max-workers were busy";
  } else if (stalls > 0 && (facts.late > 0 || options.rate.unpaced())) {
    facts.limited = true;
    facts.limit = "the output took results more slowly than they were made";
  } else if (busiest >= kBusyLimit && (options.rate.unpaced() || facts.late > 0)) {
    facts.limited = true;
    facts.limit = "a sending thread was busy all the time";
  }
}

RunFacts facts_at_start(const AttackState& attack) {
  RunFacts facts;
  facts.run_id = attack.run_id;
  facts.version = attack.options.version;
  facts.attack = attack.options.name;
  facts.flags = attack.options.flags;
  facts.start = attack.start;
  facts.rate = attack.options.rate;
  facts.duration = std::max(Nanos{0}, attack.options.duration);
  return facts;
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
      say(events, fmt::format("the header {} of {} is not sent: the framing follows the body (and -chunked)", field.name,
                              attack.targets[i].url));
    }
    if (!attack.requests[i].fault.empty() || !origins.insert(attack.requests[i].origin).second) continue;
    attack.plan->prepare(attack.requests[i].origin);
    const std::string notice = attack.plan->notice(attack.requests[i].origin);
    if (said.insert(notice).second) say(events, notice);
  }
}

// No more threads than there are slots to share, and one for a list that is read hit by hit.
unsigned thread_count(const AttackOptions& options) {
  std::uint64_t threads = std::max(1U, options.threads);
  threads = std::min(threads, std::max<std::uint64_t>(1, options.max_workers));
  if (options.max_connections > 0) threads = std::min(threads, static_cast<std::uint64_t>(options.max_connections));
  return options.lazy ? 1U : static_cast<unsigned>(threads);
}

}  // namespace

Expected<AttackSummary> attack(const AttackOptions& options, Targeter& targeter, const Pacer& pacer, ChunkSink& out,
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
                    .start = {},
                    .start_instant = {}};
  if (!options.lazy) {
    if (auto prepared = prepare_targets(state, targeter); !prepared) return std::move(prepared).error();
    say_about_targets(state, events);
  }

  const std::int64_t now = wall_clock_nanos();
  state.start = {now, local_zone_minutes(now)};
  state.start_instant = Clock::now();
  Conductor conductor{state, events};
  // The threads of the sink and of the feed may stop or wake workers as soon as they exist.
  conductor.hire(thread_count(options));
  Sink sink{out, [&] { conductor.stop(Stop::kAtOnce); }};
  state.sink = &sink;
  std::unique_ptr<TargetFeed> feed;
  if (options.lazy) {
    feed = std::make_unique<TargetFeed>(targeter, state.request_options, [&] { conductor.wake_workers(); }, events.cancel_targets);
    state.feed = feed.get();
  }
  std::string chunk;
  append_facts_chunk(facts_at_start(state), chunk);
  sink.force(std::move(chunk));

  conductor.run();

  conductor.say_shortages();
  AttackSummary summary = conductor.summarise();
  if (feed) summary.targets_error = feed->error();
  RunFacts facts = facts_at_start(state);
  facts.complete = true;
  facts.elapsed = summary.facts.elapsed;
  facts.sent = summary.facts.sent;
  facts.missed = summary.facts.missed;
  facts.late = summary.facts.late;
  facts.worst_lag = summary.facts.worst_lag;
  facts.threads = summary.facts.threads;
  judge(facts, options, sink.stalls());
  summary.facts = facts;
  chunk.clear();
  append_facts_chunk(facts, chunk);
  sink.force(std::move(chunk));
  if (auto error = sink.finish()) return *std::move(error);
  return summary;
}

}  // namespace pepe
