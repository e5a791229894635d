#pragma once

#include <time.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "engine/asio.h"
#include "engine/attack_state.h"
#include "engine/worker.h"
#include "pepe/engine/attack.h"

namespace pepe {

/// One worker with its thread, and what its thread's clock says.
struct Crew {
  std::unique_ptr<Worker> worker;
  std::thread thread;
  clockid_t cpu_clock{};
  Nanos window_cpu{0};
  Nanos window_spun{0};
  double window_busy{0};
  double peak_busy{0};

  Nanos cpu() const {
    if (const Nanos whole{worker->counters().cpu.load()}; whole > Nanos{0}) return whole;
    timespec spent{};
    return ::clock_gettime(cpu_clock, &spent) == 0 ? std::chrono::seconds{spent.tv_sec} + Nanos{spent.tv_nsec}
                                                   : Nanos{0};
  }
  Nanos spun() const { return Nanos{worker->counters().spun.load(std::memory_order_relaxed)}; }
};

/// Runs the workers of one attack from the thread that asked for it: signals, progress, the end.
class Conductor {
 public:
  Conductor(AttackState& attack, const AttackEvents& events)
      : attack_{attack}, events_{events}, work_{asio::make_work_guard(io_)}, ticker_{io_} {}

  /// Starts `threads` workers, and more up to `most` as they are needed; returns when the last one is done. Error: what
  /// the machine has too little of to go on; what was recorded until then is with the sink.
  Expected<void> run(unsigned threads, unsigned most);
  /// These two from any thread, before and during run(). They need no memory.
  void stop_soon(Stop stop) noexcept {
    asked_stop_.store(stop);
    io_.stop();
  }
  void wake_workers_soon() noexcept {
    asked_wake_.store(true);
    io_.stop();
  }
  AttackSummary summarise() const;
  /// The longest that the machine is known to have kept this process, or this thread of it, from running. What is
  /// shorter than a tick may not be seen.
  Nanos held_up() const noexcept { return held_up_; }
  /// What the machine lacked, and the remedy.
  void say_shortages() const;

 private:
  void turn();
  void stop(Stop stop) noexcept;
  Nanos::rep offset_of(Instant stop) const noexcept;
  void give_up(Error error) noexcept;
  void wake_workers() noexcept;
  Expected<void> add_worker(unsigned index, unsigned count);
  Expected<void> start(Crew& crew);
  void grow();
  Expected<void> add_thread();
  void share_out_slots();
  void await_tick();
  void on_tick();
  void note_hold_up(Instant now);
  void sample_busy_shares(Instant now);
  AttackProgress progress() const;

  AttackState& attack_;
  const AttackEvents& events_;
  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  asio::steady_timer ticker_;
  std::vector<std::unique_ptr<Crew>> crews_;
  unsigned most_{1};
  std::atomic<Stop> asked_stop_{Stop::kNo};
  std::atomic<bool> asked_wake_{false};
  std::atomic<std::size_t> running_{0};
  std::atomic<bool> ended_{false};  ///< A worker has met the end of the schedule.
  std::optional<Error> error_;
  std::uint64_t late_before_{0};
  Nanos held_up_{0};
  Instant begun_;
  Instant window_start_;
  Instant ended_at_;
};

}  // namespace pepe
