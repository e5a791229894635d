// HOT: once per hit. No allocation, lock, log or wall clock. Which hit a worker sends next, and when.
#include "engine/worker.h"

#include <algorithm>
#include <optional>

namespace pepe {
namespace {

// Hits that are overdue leave back to back, but answers are looked at in between.
constexpr int kHitsPerTurn = 256;

}  // namespace

void Worker::heed_stop() {
  if (stop_heeded_ || attack_.stop.load(std::memory_order_relaxed) == Stop::kNo) return;
  stop_heeded_ = true;
  // Hit numbers stay dense: whatever was claimed and due when the run was stopped is sent, or counted as missed.
  const Instant stopped = attack_.time.start_instant + Nanos{attack_.stop_offset.load(std::memory_order_acquire)};
  if (claim_ && claim_->due <= stopped && !unpaced_) {
    if (!has_target()) {
      ran_out_of_targets_ = feed_state_ == TargetFeed::State::kNotYet;
    } else if (may_start()) {
      take_up();
    } else {
      ran_out_of_slots_ = true;
    }
  }
  claim_.reset();
  end_schedule();
}

// The next hit has a target: always, unless a lazy list has to be waited for, or has ended.
bool Worker::has_target() {
  if (attack_.feed == nullptr || !lazy_targets_.empty()) return true;
  feed_state_ = attack_.feed->refill(lazy_targets_);
  return feed_state_ == TargetFeed::State::kSome;
}

bool Worker::may_start() const noexcept { return in_flight_ < max_in_flight() && chunk_.empty(); }

// Whether there were any.
bool Worker::release_due_hits(Instant now) {
  if (warming_up_ && now >= attack_.time.start_instant) end_warmup();
  int i = 0;
  for (; i < kHitsPerTurn && !schedule_over_; ++i) {
    if (!may_start()) {
      // Overdue at the end of the schedule with every slot taken: these hits are missed, and said to be.
      const Nanos duration = attack_.options.duration;
      if (chunk_.empty() && duration > Nanos{0} && now - attack_.time.start_instant >= duration) {
        ran_out_of_slots_ = !unpaced_;
        end_schedule();
      }
      break;
    }
    if (!claim_ && !claim(now)) break;
    if (claim_->due > now) break;
    if (!has_target()) {
      const bool over =
          attack_.options.duration > Nanos{0} && now - attack_.time.start_instant >= attack_.options.duration;
      ran_out_of_targets_ = over && feed_state_ == TargetFeed::State::kNotYet;
      if (over || feed_state_ == TargetFeed::State::kEnded) end_schedule();
      break;
    }
    take_up();
  }
  return i > 0;
}

// Draws the next hit number. False: the schedule is over.
bool Worker::claim(Instant now) {
  if (warming_up_ && claim_warmup(now)) return true;
  const Nanos duration = attack_.options.duration;
  if (unpaced_ && duration > Nanos{0} && now - attack_.time.start_instant >= duration) {
    end_schedule();
    return false;
  }
  const std::uint64_t seq = attack_.options.shard.number_of(attack_.ticket.fetch_add(1, std::memory_order_relaxed));
  const std::optional<Nanos> due = attack_.pacer.due(seq);
  if (!due || (duration > Nanos{0} && *due >= duration)) {
    end_schedule();
    return false;
  }
  claim_ = {seq, after(attack_.time.start_instant, *due), false};
  return true;
}

// What is left of it is not sent: it would make the run's own hits late.
void Worker::end_warmup() noexcept {
  warming_up_ = false;
  if (claim_ && claim_->warms_up) claim_.reset();
}

// The warm-up is the beginning of the schedule, sent before the start. False: it is over.
bool Worker::claim_warmup(Instant now) {
  const std::uint64_t seq =
      attack_.options.shard.number_of(attack_.warmup_ticket.fetch_add(1, std::memory_order_relaxed));
  const std::optional<Nanos> due =
      unpaced_ ? std::max<Nanos>(Nanos{0}, now - attack_.time.warmup_instant) : attack_.pacer.due(seq);
  warming_up_ = due && *due < attack_.options.warmup;
  if (warming_up_) claim_ = {seq, after(attack_.time.warmup_instant, *due), true};
  return warming_up_;
}

}  // namespace pepe
