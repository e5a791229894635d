#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "engine/hit.h"
#include "pepe/target/targeter.h"

namespace pepe {

/// The targets of a lazy list, read by a thread of its own as they are needed, so that a silent pipe holds up neither
/// the schedule nor the end of the run.
class TargetFeed {
 public:
  /// `on_change` runs on the reading thread whenever take() may give something else than before.
  /// `cancel` must make a blocked Targeter::next() return soon; it runs in the destructor.
  TargetFeed(Targeter& targeter, const RequestOptions& options, std::function<void()> on_change,
             std::function<void()> cancel);
  ~TargetFeed();

  enum class State { kTaken, kNotYet, kEnded };
  State take(std::unique_ptr<OwnedTarget>& out);
  /// Whether take() would give kTaken.
  State peek();
  /// The error that ended the list, or empty.
  std::string error();

 private:
  void run(Targeter& targeter);

  const RequestOptions& options_;
  std::function<void()> on_change_;
  std::function<void()> cancel_;
  std::mutex mutex_;
  std::condition_variable room_;
  std::deque<std::unique_ptr<OwnedTarget>> ready_;
  bool ended_{false};
  bool cancelled_{false};
  std::string error_;
  std::thread thread_;
};

}  // namespace pepe
