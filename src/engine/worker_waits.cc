// HOT: once per turn. No allocation, lock, log or wall clock. When a worker sleeps, and what becomes of hits whose time
// is over.
#include "engine/worker.h"

#include <fmt/format.h>

#include <algorithm>

namespace pepe {
namespace {

constexpr Nanos kStallPause = std::chrono::milliseconds{1};
// A turn with nothing to do takes less. One that took longer was held up by the machine, which is no spinning.
constexpr Nanos kIdleTurn = std::chrono::microseconds{5};
constexpr Nanos kMaxWakeMargin = std::chrono::microseconds{60};

}  // namespace

void Worker::expire(Instant now) {
  const Nanos timeout = attack_.options.timeout;
  if (timeout <= Nanos{0}) return;
  while (Hit* const hit = deadlines_.front()) {
    if (now - hit->taken < timeout) return;
    time_out(*hit);
  }
}

void Worker::time_out(Hit& hit) {
  const std::string prefix = error_prefix(hit.request->method, hit.request->url);
  Connection* const connection = hit.connection;
  if (connection == nullptr) {
    std::string phase = hit.pool->phase();
    if (phase.empty()) phase = "waiting for a connection";
    hit.pool->leave(hit);
    return fail(
        hit,
        fmt::format("{}context deadline exceeded (Client.Timeout exceeded while awaiting headers): {}", prefix, phase),
        nullptr, false);
  }
  const bool reused = hit.reused;
  auto [partial, sent] = connection->abandon(hit);
  connection->pool().release(*connection);
  if (partial != nullptr && partial->has_head()) {
    fail(hit, "context deadline exceeded (Client.Timeout or context cancellation while reading body)", partial.get(),
         reused);
  } else {
    fail(hit,
         fmt::format("{}context deadline exceeded (Client.Timeout exceeded while awaiting headers){}", prefix,
                     sent ? "" : ": sending the request"),
         nullptr, reused);
  }
  if (partial) responses_.give_back(std::move(partial));
}

// Sleeps when there is nothing to do. `sent`: this turn has sent hits.
std::span<const ReadyEvent> Worker::await_events(Instant now, bool sent) {
  const Instant until = unfinished_.empty() ? next_wake(now) : now;
  if (until <= now) {
    const auto events = ready_.poll();
    // The last stretch before a due time is spun through: a sleep would end too late.
    if (!sent && events.empty() && unfinished_.empty())
      WorkerCounters::add<Nanos::rep>(counters_.spun, std::min(kIdleTurn, Clock::now() - now).count());
    return events;
  }
  const bool for_due_hit = claim_ && may_start() && claim_->due - wake_margin_ <= until;
  const auto events = ready_.wait(now, until, io_settled_ && dialer_->idle());
  if (for_due_hit && events.empty()) {
    // How late the machine wakes a sleeper is learned as it happens.
    const Nanos late = Clock::now() - until;
    if (late > Nanos{0} && late < std::chrono::milliseconds{1})
      wake_margin_ = std::min(kMaxWakeMargin, wake_margin_ + (late - wake_margin_) / 8);
  }
  return events;
}

// What cancelled dials leave behind in the io_context is run before it is left alone.
void Worker::settle_io() {
  if (!dialer_->idle())
    io_settled_ = false;
  else if (!io_settled_)
    io_settled_ = io_.poll() == 0;
}

Instant Worker::next_wake(Instant now) const {
  if (!chunk_.empty()) return now + kStallPause;
  Instant until = recorder_.flush_at();
  if (attack_.options.timeout > Nanos{0} && !deadlines_.empty())
    until = std::min(until, after(deadlines_.front()->taken, attack_.options.timeout));
  if (schedule_over_) return until;
  const bool waits_for_target =
      attack_.feed != nullptr && lazy_targets_.empty() && feed_state_ == TargetFeed::State::kNotYet;
  if (may_start() && !waits_for_target) return claim_ ? std::min(until, claim_->due - wake_margin_) : now;
  if (attack_.options.duration > Nanos{0})
    until = std::min(until, after(attack_.time.start_instant, attack_.options.duration));
  return until;
}

}  // namespace pepe
