#include "engine/target_feed.h"

#include <utility>

namespace pepe {
namespace {

// How far reading runs ahead of the hits.
constexpr std::size_t kReadAhead = 256;

}  // namespace

TargetFeed::TargetFeed(Targeter& targeter, const RequestOptions& options, std::function<void()> on_change,
                       std::function<void()> cancel)
    : options_{options}, on_change_{std::move(on_change)}, cancel_{std::move(cancel)}, thread_{[this, &targeter] {
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

TargetFeed::State TargetFeed::take(std::unique_ptr<OwnedTarget>& out) {
  {
    const std::lock_guard lock{mutex_};
    if (ready_.empty()) return ended_ ? State::kEnded : State::kNotYet;
    out = std::move(ready_.front());
    ready_.pop_front();
  }
  room_.notify_one();
  return State::kTaken;
}

TargetFeed::State TargetFeed::peek() {
  const std::lock_guard lock{mutex_};
  if (!ready_.empty()) return State::kTaken;
  return ended_ ? State::kEnded : State::kNotYet;
}

std::string TargetFeed::error() {
  const std::lock_guard lock{mutex_};
  return error_;
}

void TargetFeed::run(Targeter& targeter) {
  for (;;) {
    auto next = targeter.next();
    std::unique_ptr<OwnedTarget> owned;
    if (next && *next) {
      owned = std::make_unique<OwnedTarget>();
      owned->target = *std::move(*next);
      owned->request = make_request(owned->target, options_);
    }
    {
      std::unique_lock lock{mutex_};
      if (owned) {
        room_.wait(lock, [this] { return cancelled_ || ready_.size() < kReadAhead; });
        ready_.push_back(std::move(owned));
      } else {
        ended_ = true;
        if (!next) error_ = next.error().text();
      }
      if (cancelled_ || ended_) ended_ = true;
    }
    on_change_();
    const std::lock_guard lock{mutex_};
    if (ended_) return;
  }
}

}  // namespace pepe
