#include "engine/conductor.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <exception>
#include <fstream>
#include <string>

#include "engine/shortage.h"
#include "engine/signals.h"

namespace pepe {
namespace {

constexpr Nanos kProgressInterval = std::chrono::milliseconds{100};
constexpr Nanos kBusyWindow = std::chrono::seconds{1};

// Splits a limit so that the parts of all workers add up to it exactly. 0 stays 0: no limit.
std::uint64_t part_of(std::uint64_t limit, unsigned parts, unsigned index) {
  return limit / parts + (index < limit % parts ? 1 : 0);
}

std::string open_files_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return "so many";
  return std::to_string(limit.rlim_cur);
}

// " (FIRST to LAST)", where the system tells.
std::string local_port_range() {
  std::ifstream file{"/proc/sys/net/ipv4/ip_local_port_range"};
  unsigned first = 0;
  unsigned last = 0;
  return file >> first >> last ? fmt::format(" ({} to {})", first, last) : std::string{};
}

}  // namespace

Expected<void> Conductor::run(unsigned threads, unsigned most) {
  most_ = most;
  RunSignals signals{io_};
  if (attack_.options.handle_signals) {
    if (auto opened = signals.open(); !opened) return opened;
    signals.watch([&](int seen) {
      if (seen == 1) return stop(Stop::kNoNewHits);
      stop(Stop::kAtOnce);
      signals.let_go();  // nothing here is to hold up the process at a third one
    });
  }
  begun_ = window_start_ = Clock::now();
  // All of them exist before the first one runs: a stop must reach each.
  for (unsigned i = 0; i < threads; ++i) {
    if (auto added = add_worker(i, threads); !added) return added;
  }
  await_tick();
  for (auto& crew : crews_) {
    if (auto started = start(*crew); !started) {
      give_up(std::move(started).error());
      break;
    }
  }
  while (running_.load() > 0) turn();
  const Instant last_tick = Clock::now();
  note_hold_up(last_tick);
  sample_busy_shares(last_tick);
  for (auto& crew : crews_) {
    if (crew->thread.joinable()) crew->thread.join();
    if (crew->worker->out_of_memory()) give_up(Error{"out of memory"});
  }
  ended_at_ = Clock::now();
  return error_ ? Expected<void>{*std::move(error_)} : Expected<void>{};
}

// The workers must be joined whatever happens here.
void Conductor::turn() {
  try {
    io_.run_one();
  } catch (const std::exception&) {
    give_up(shortage_error("attack"));
  }
  // Before what was asked for is looked at: what is asked for later stops it again.
  if (io_.stopped()) io_.restart();
  if (const Stop asked = asked_stop_.exchange(Stop::kNo); asked != Stop::kNo) stop(asked);
  if (asked_wake_.exchange(false)) wake_workers();
}

// The first error counts. Nothing is waited for: what is in flight may be what takes up the memory.
void Conductor::give_up(Error error) noexcept {
  if (!error_) error_ = std::move(error);
  stop(Stop::kAtOnce);
}

Expected<void> Conductor::start(Crew& crew) {
  ++running_;
  auto thread = start_thread([this, worker = crew.worker.get()] {
    worker->run();
    ended_ = true;
    --running_;
    io_.stop();
  });
  if (!thread) {
    --running_;
    return std::move(thread).error();
  }
  crew.thread = *std::move(thread);
  ::pthread_getcpuclockid(crew.thread.native_handle(), &crew.cpu_clock);
  return {};
}

// One more thread when one of them has hardly any time left, or cannot keep up with the schedule.
void Conductor::grow() {
  constexpr double kBusyEnough = 0.8;
  // Hits that are late while the thread has time to spare are the machine's doing: another thread would not help.
  constexpr double kBusyWhenLate = 0.5;
  std::uint64_t late = 0;
  double busiest = 0;
  for (const auto& crew : crews_) {
    late += crew->worker->counters().late.load(std::memory_order_relaxed);
    busiest = std::max(busiest, crew->window_busy);
  }
  const bool fell_behind = late > late_before_;
  late_before_ = late;
  if (ended_ || crews_.size() >= most_ || attack_.stop.load() != Stop::kNo) return;
  if (busiest < kBusyEnough && !(fell_behind && busiest >= kBusyWhenLate)) return;
  if (const auto added = add_thread(); !added) {
    most_ = static_cast<unsigned>(crews_.size());
    if (events_.notice) events_.notice("no further sending thread: " + added.error().text());
  }
}

Expected<void> Conductor::add_thread() {
  const auto count = static_cast<unsigned>(crews_.size());
  if (auto added = add_worker(count, count + 1); !added) return added;
  crews_.back()->worker->set_max_in_flight(attack_.options.max_workers == UINT64_MAX ? UINT64_MAX : 0);
  auto started = start(*crews_.back());
  if (!started) crews_.pop_back();
  return started;
}

// Parts of -max-workers after a thread was added. A slot moves only when it is free, so the limit holds at any moment.
void Conductor::share_out_slots() {
  const std::uint64_t total = attack_.options.max_workers;
  if (total == UINT64_MAX || crews_.size() < 2) return;
  const auto count = static_cast<unsigned>(crews_.size());
  std::uint64_t taken = 0;
  for (unsigned i = 0; i + 1 < count; ++i) {
    Worker& worker = *crews_[i]->worker;
    worker.set_max_in_flight(std::min(worker.max_in_flight(), part_of(total, count, i)));
    // What it has in flight beyond its part is its own until it is done.
    taken += std::max(worker.max_in_flight(), worker.in_flight());
  }
  Worker& last = *crews_.back()->worker;
  const std::uint64_t free = std::min(total - std::min(total, taken), part_of(total, count, count - 1));
  if (free <= last.max_in_flight()) return;
  last.set_max_in_flight(free);
  last.wake();
}

Expected<void> Conductor::add_worker(unsigned index, unsigned count) {
  const AttackOptions& options = attack_.options;
  WorkerShare share;
  if (options.max_workers != UINT64_MAX) share.max_in_flight = part_of(options.max_workers, count, index);
  const auto idle = options.connections <= 0 ? 2U : static_cast<std::uint64_t>(options.connections);
  share.max_idle = static_cast<std::size_t>(std::max<std::uint64_t>(1, part_of(idle, count, index)));
  if (options.max_connections > 0)
    share.max_open =
        static_cast<std::size_t>(part_of(static_cast<std::uint64_t>(options.max_connections), count, index));
  try {
    auto crew = std::make_unique<Crew>();
    crew->worker = std::make_unique<Worker>(attack_, index, share);
    if (auto fault = crew->worker->fault()) return *std::move(fault);
    crews_.push_back(std::move(crew));
    return {};
  } catch (const std::exception&) {
    return shortage_error("attack");
  }
}

// When `stop` came, from the start on. Never 0, which stands for no stop at all.
Nanos::rep Conductor::offset_of(Instant stop) const noexcept {
  const Nanos offset = stop - attack_.time.start_instant;
  return offset == Nanos{0} ? 1 : offset.count();
}

void Conductor::stop(Stop stop) noexcept {
  if (stop == Stop::kNoNewHits) attack_.stop_offset.store(offset_of(Clock::now()), std::memory_order_release);
  if (attack_.stop.load() < stop) attack_.stop.store(stop);
  wake_workers();
}

void Conductor::wake_workers() noexcept {
  for (auto& crew : crews_) crew->worker->wake();
}

void Conductor::await_tick() {
  // Without anybody to tell, and slots to share out, the busy shares are all there is to look at. Where no schedule
  // shows that time was lost, the ticks do.
  const bool often = events_.progress || crews_.size() > 1 || attack_.pacer.unpaced();
  ticker_.expires_after(often ? kProgressInterval : kBusyWindow);
  ticker_.async_wait([this](const error_code& error) {
    if (error) return;
    on_tick();
    await_tick();
  });
}

void Conductor::on_tick() {
  const Instant now = Clock::now();
  note_hold_up(now);
  if (now - window_start_ >= kBusyWindow) {
    sample_busy_shares(now);
    if (attack_.options.threads == 0) grow();
  }
  if (attack_.options.threads == 0) share_out_slots();
  if (events_.progress) events_.progress(progress());
}

// How late a tick is.
void Conductor::note_hold_up(Instant now) {
  if (now >= attack_.time.start_instant) held_up_ = std::max<Nanos>(held_up_, now - ticker_.expiry());
}

void Conductor::sample_busy_shares(Instant now) {
  const double window = static_cast<double>((now - window_start_).count());
  window_start_ = now;
  for (auto& crew : crews_) {
    const Nanos cpu = crew->cpu();
    const Nanos spun = crew->spun();
    const Nanos busy = cpu - crew->window_cpu - (spun - crew->window_spun);
    if (window > 0) crew->window_busy = std::clamp(static_cast<double>(busy.count()) / window, 0.0, 1.0);
    if (now >= attack_.time.start_instant) crew->peak_busy = std::max(crew->peak_busy, crew->window_busy);
    crew->window_cpu = cpu;
    crew->window_spun = spun;
  }
}

AttackProgress Conductor::progress() const {
  AttackProgress progress{.elapsed = Clock::now() - attack_.time.start_instant};
  std::uint64_t warmup_in_flight = 0;
  for (const auto& crew : crews_) {
    const WorkerCounters& counters = crew->worker->counters();
    // done first: it never exceeds a later look at sent.
    const std::uint64_t warmup_done = counters.warmup_done.load(std::memory_order_relaxed);
    progress.done += counters.done.load(std::memory_order_relaxed) - warmup_done;
    progress.failed += counters.failed.load(std::memory_order_relaxed);
    const std::uint64_t warmup_sent = counters.warmup_sent.load(std::memory_order_relaxed);
    progress.sent += counters.sent.load(std::memory_order_relaxed) - warmup_sent;
    warmup_in_flight += warmup_sent - std::min(warmup_sent, warmup_done);
  }
  progress.in_flight = warmup_in_flight + progress.sent - std::min(progress.sent, progress.done);
  return progress;
}

AttackSummary Conductor::summarise() const {
  AttackSummary summary;
  RunFacts& facts = summary.facts;
  facts.rate = {0, Nanos{0}};  // the plan is stated apart
  Instant end = attack_.time.start_instant;
  bool out_of_slots = false;
  for (const auto& crew : crews_) {
    const WorkerCounters& counters = crew->worker->counters();
    facts.sent += counters.sent.load() - counters.warmup_sent.load();
    summary.failed += counters.failed.load();
    facts.late += counters.late.load();
    facts.worst_lag = std::max(facts.worst_lag, Nanos{counters.worst_lag.load()});
    end = std::max(end, crew->worker->last_recorded());
    out_of_slots = out_of_slots || crew->worker->ran_out_of_slots();
    summary.out_of_targets = summary.out_of_targets || crew->worker->ran_out_of_targets();
  }
  facts.elapsed = end - attack_.time.start_instant;
  for (const auto& crew : crews_) {
    const double wall = static_cast<double>(std::max<Nanos>(ended_at_ - begun_, Nanos{1}).count());
    const double busy = static_cast<double>((crew->window_cpu - crew->window_spun).count()) / wall;
    facts.threads.push_back({std::clamp(busy, 0.0, 1.0), std::max(crew->peak_busy, std::clamp(busy, 0.0, 1.0))});
  }
  if (out_of_slots || (summary.out_of_targets && !attack_.pacer.unpaced())) {
    // Of a run that was stopped, what was due by then.
    const Nanos stopped{attack_.stop_offset.load()};
    const Nanos duration = attack_.options.duration;
    const bool early = stopped != Nanos{0} && (duration <= Nanos{0} || stopped < duration);
    const std::uint64_t planned =
        attack_.options.shard.part_of(attack_.pacer.hits_before(early ? stopped + Nanos{1} : duration));
    facts.missed = planned - std::min(planned, facts.sent);
  }
  return summary;
}

void Conductor::say_shortages() const {
  std::uint64_t descriptors = 0;
  std::uint64_t of_system = 0;
  std::uint64_t ports = 0;
  for (const auto& crew : crews_) {
    descriptors += crew->worker->counters().without_descriptor.load();
    of_system += crew->worker->counters().without_system_descriptor.load();
    ports += crew->worker->counters().without_port.load();
  }
  if (!events_.notice) return;
  if (const std::uint64_t given_up = progress().in_flight; given_up > 0)
    events_.notice(fmt::format("{} hits were in flight when the run was ended: they have no results", given_up));
  if (descriptors > 0)
    events_.notice(fmt::format("{} hits found no free file descriptor: no more than {} files may be open (ulimit -n)",
                               descriptors, open_files_limit()));
  if (of_system > 0)
    events_.notice(
        fmt::format("{} hits found no free file descriptor: the system has none left (fs.file-max)", of_system));
  if (ports > 0)
    events_.notice(
        fmt::format("{} hits found no free local port: keep connections alive, widen net.ipv4.ip_local_port_range{}, "
                    "or send from more addresses",
                    ports, local_port_range()));
}

}  // namespace pepe
