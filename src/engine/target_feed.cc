#include "engine/target_feed.h"

#include <exception>
#include <utility>

#include "engine/shortage.h"
#include "engine/signals.h"

namespace pepe {
namespace {

// How far reading runs ahead of the hits: twice as far, with what a worker has taken.
constexpr std::size_t kReadAhead = 128;

}  // namespace

TargetFeed::TargetFeed(Targeter& targeter, const RequestOptions& options, Shard shard, std::function<void()> on_change,
                       std::function<void()> cancel)
    : options_{options},
      shard_{shard},
      on_change_{std::move(on_change)},
      cancel_{std::move(cancel)},
      thread_{[this, &targeter] {
        leave_signals_to_others();
        run(targeter);
      }} {}

TargetFeed::~TargetFeed() {
  {
    const std::lock_guard lock{mutex_};
    cancelled_ = true;
  }
  room_.notify_all();
  if (cancel_) cancel_();
  thread_.join();
}

void TargetFeed::await_first(Nanos at_most) {
  std::unique_lock lock{mutex_};
  begun_.wait_for(lock, at_most, [this] { return any_ || ended_; });
}

TargetFeed::State TargetFeed::refill(Batch& batch) {
  {
    const std::lock_guard lock{mutex_};
    waited_for_ = ready_.empty();
    if (ready_.empty()) return ended_ ? State::kEnded : State::kNotYet;
    batch.swap(ready_);
  }
  room_.notify_one();
  return State::kSome;
}

std::string TargetFeed::error() {
  const std::lock_guard lock{mutex_};
  return error_;
}

void TargetFeed::run(Targeter& targeter) {
  bool more = true;
  while (more) {
    try {
      more = read_one(targeter);
    } catch (const std::exception&) {
      const std::lock_guard lock{mutex_};
      error_ = shortage_error("reading targets").text();
      ended_ = true;
      more = false;
    }
  }
  begun_.notify_one();
  on_change_();
}

// The targets of other shards are passed over.
Expected<std::optional<Target>> TargetFeed::next_of_shard(Targeter& targeter) {
  const std::uint64_t wanted = shard_.number_of(taken_++);
  for (;;) {
    auto next = targeter.next();
    if (!next || !*next || read_++ == wanted) return next;
  }
}

// False: there are no more.
bool TargetFeed::read_one(Targeter& targeter) {
  auto next = next_of_shard(targeter);
  std::unique_ptr<OwnedTarget> owned;
  if (next && *next) {
    owned = std::make_unique<OwnedTarget>();
    owned->target = *std::move(*next);
    owned->request = make_request(owned->target, options_);
  }
  bool waited_for = false;
  bool first = false;
  {
    std::unique_lock lock{mutex_};
    if (owned) {
      room_.wait(lock, [this] { return cancelled_ || ready_.size() < kReadAhead; });
      ready_.push_back(std::move(owned));
      first = !std::exchange(any_, true);
    } else {
      ended_ = true;
      if (!next) error_ = next.error().text();
      if (next && read_ == 0) error_ = kNoTargets;
    }
    ended_ = ended_ || cancelled_;
    if (ended_) return false;
    waited_for = std::exchange(waited_for_, false);
  }
  if (first) begun_.notify_one();
  if (waited_for) on_change_();
  return true;
}

}  // namespace pepe
