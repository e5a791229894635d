#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/asio.h"
#include "engine/attack_state.h"
#include "engine/connection.h"
#include "engine/http1_connection.h"
#include "engine/http2_connection.h"
#include "engine/pool.h"
#include "engine/ready_set.h"
#include "engine/recorder.h"

namespace pepe {

/// This worker's part of limits that hold over all workers.
struct WorkerShare {
  std::uint64_t max_in_flight{UINT64_MAX};
  std::size_t max_idle{10'000};
  std::size_t max_open{0};
};

/// Figures of a worker that others may read while it runs. Written by the worker alone.
struct WorkerCounters {
  /// Without the cost of an atomic addition, which only several writers need.
  template <class T>
  static void add(std::atomic<T>& counter, T amount) {
    counter.store(counter.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }

  std::atomic<std::uint64_t> sent{0};
  std::atomic<std::uint64_t> done{0};
  // Of the two above, the hits of the warm-up; the figures below are without them.
  std::atomic<std::uint64_t> warmup_sent{0};
  std::atomic<std::uint64_t> warmup_done{0};
  std::atomic<std::uint64_t> failed{0};
  std::atomic<std::uint64_t> late{0};
  std::atomic<Nanos::rep> worst_lag{0};
  std::atomic<std::uint64_t> without_descriptor{0};  ///< Hits that the limit of open files left without a connection.
  std::atomic<std::uint64_t> without_system_descriptor{0};  ///< The same for all that the system can have.
  std::atomic<std::uint64_t> without_port{0};               ///< The same for local ports.
  std::atomic<Nanos::rep> cpu{0};   ///< Of the thread, set as it ends: its clock cannot be read from outside then.
  std::atomic<Nanos::rep> spun{0};  ///< Time burnt waiting for a due time, which is not work.
};

/// One sending thread: claims hits by ticket, sends each when it is due, reads the answers, records them. Everything in
/// it is its own; threads meet in AttackState only.
/// A hit is one state machine with one deadline over all that it does: name, connection, handshake, sending, head,
/// body, redirects. Its handlers stand in the order of its life: release_due_hits, take_up, ask, on_connection,
/// on_known_answer / on_answer / on_broken / time_out, settle. expire() ends whatever is under way at the deadline.
class Worker final : public ConnectionOwner, public PoolOwner {
 public:
  Worker(AttackState& attack, std::uint32_t number, WorkerShare share);
  ~Worker() override;

  /// Runs until the schedule is over and every answer is in. On the worker's own thread.
  void run();
  /// What the system refused to the worker when it was made. REQUIRED to be nothing before run().
  std::optional<Error> fault() const;
  /// Makes run() look at the stop flag (or the lazy list) now. From any thread.
  void wake() noexcept;
  /// Changes this worker's part of -max-workers while it runs. From any thread.
  void set_max_in_flight(std::uint64_t limit) noexcept { max_in_flight_.store(limit, std::memory_order_relaxed); }
  std::uint64_t max_in_flight() const noexcept { return max_in_flight_.load(std::memory_order_relaxed); }

  const WorkerCounters& counters() const noexcept { return counters_; }
  /// Hits taken up and not done. From any thread.
  std::uint64_t in_flight() const noexcept {
    const std::uint64_t done = counters_.done.load(std::memory_order_relaxed);
    const std::uint64_t sent = counters_.sent.load(std::memory_order_relaxed);
    return sent - std::min(sent, done);
  }
  /// When the last hit that has a result ended. After run().
  Instant last_recorded() const noexcept { return last_recorded_; }
  /// This worker met the end of the schedule with overdue hits and no free slot to send them.
  bool ran_out_of_slots() const noexcept { return ran_out_of_slots_; }
  /// This worker met the end of the schedule with a hit that was due, but not yet read from the lazy list.
  bool ran_out_of_targets() const noexcept { return ran_out_of_targets_; }
  /// There was no memory even for results: the worker has given up. From any thread.
  bool out_of_memory() const noexcept { return out_of_memory_.load(); }

 private:
  struct Claim {
    std::uint64_t seq{0};
    Instant due;
    bool warms_up{false};
  };

  // ConnectionOwner
  void on_known_answer(Connection& connection, Hit& hit) override;
  void on_answer(Connection& connection, Hit& hit, Response& response) override;
  void on_broken(Connection& connection, Hit& hit, Breakage breakage, std::string error, Response* response) override;
  void on_idle_closed(Connection& connection) override { connection.pool().on_idle_closed(connection); }
  void on_capacity(Connection& connection) override { connection.pool().on_capacity(connection); }
  // PoolOwner
  Dialer& dialer() override { return *dialer_; }
  Connection& new_connection(Connection::Protocol protocol) override;
  void recycle(Connection& connection) override;
  void on_connection(Hit& hit, Connection& connection) override;
  void on_no_connection(Hit& hit, std::string error) override;
  bool close_idle_connection();

  void turn();
  void serve(std::span<const ReadyEvent> events);
  bool finished() const noexcept;
  bool release_due_hits(Instant now);
  bool claim(Instant now);
  bool claim_warmup(Instant now);
  void end_warmup() noexcept;
  bool may_start() const noexcept;
  void end_schedule() noexcept { schedule_over_ = true; }
  bool has_target();
  void take_up();
  void ask(Hit& hit);
  void start(Connection& connection, Hit& hit);
  bool follow(Hit& hit, Response& response, std::string& error);
  void fail(Hit& hit, std::string_view error, Response* partial, bool reused);
  void settle(Hit& hit, Instant done, bool failed);
  void after_answer(Connection& connection);
  void expire(Instant now);
  void time_out(Hit& hit);
  void flush(Instant now);
  void heed_stop();
  void flush_connections();
  void go_on_with_unfinished();
  void reuse_closed_connections();
  std::span<const ReadyEvent> await_events(Instant now, bool sent);
  void settle_io();
  Instant next_wake(Instant now) const;
  Pool& pool_of(Hit& hit);
  Pool& pool_for(const Origin& origin);
  TargetState& target_for(std::uint64_t seq);
  Hit& new_hit();
  void free_hit(Hit& hit);
  void recover() noexcept;
  bool drop_connections() noexcept;
  void cancel_hits() noexcept;
  void hand_over() noexcept;

  // Address space that only a lack of memory uses: it is given back for the results of the hits that fail then.
  static constexpr std::size_t kReserveBytes = std::size_t{1} << 20;

  AttackState& attack_;
  WorkerShare share_;
  asio::io_context io_{1};  // before all that refers to it
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  ReadySet ready_;
  std::unique_ptr<Dialer> dialer_;
  std::unique_ptr<char[]> read_buffer_;  // pages that no answer reaches are never touched
  std::unique_ptr<char[]> plain_buffer_;
  RequestWriter writer_;
  ResponseStash responses_;
  std::vector<Connection*> unflushed_;
  std::vector<Connection*> unfinished_;
  std::unique_ptr<Http2Context> http2_;  // made for the first HTTP/2 connection
  ConnectionContext context_;
  Recorder recorder_;
  std::string chunk_;  // full, and not taken by the sink yet

  // Addresses are stable: the ready set holds them.
  std::deque<Http1Connection> http1_connections_;
  std::deque<Http2Connection> http2_connections_;
  std::vector<Connection*> free_http1_connections_;
  std::vector<Connection*> free_http2_connections_;
  std::vector<Connection*> closed_connections_;  // events of this turn may still name them
  std::map<Origin, std::unique_ptr<Pool>> pools_;
  std::vector<std::unique_ptr<TargetState>> targets_;
  TargetState spare_target_;  // of a hit that found no memory for its own
  TargetFeed::Batch lazy_targets_;
  // What the feed last said. Before it is asked, at the first hit that is due, there is nothing to wait for.
  TargetFeed::State feed_state_{TargetFeed::State::kSome};
  std::deque<Hit> hits_;
  std::vector<Hit*> free_hits_;
  DeadlineList deadlines_;

  const bool unpaced_;  // the closed loop
  std::atomic<std::uint64_t> max_in_flight_;
  std::optional<Claim> claim_;
  std::uint64_t in_flight_{0};
  bool warming_up_;
  bool schedule_over_{false};
  bool ran_out_of_slots_{false};
  bool ran_out_of_targets_{false};
  bool stop_heeded_{false};
  std::atomic<bool> out_of_memory_{false};
  std::unique_ptr<char[]> reserve_{new char[kReserveBytes]};
  std::uint32_t turns_{0};
  bool io_settled_{false};  // the io_context has run since the last dial, and has nothing left to do
  Nanos wake_margin_{0};
  Instant last_done_;      ///< Of all hits.
  Instant last_recorded_;  ///< Of those that have a result.
  WorkerCounters counters_;
};

}  // namespace pepe
