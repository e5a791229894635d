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
#include "pepe/base/time.h"
#include "pepe/pacer/shard.h"
#include "pepe/target/targeter.h"

namespace pepe {

/// The targets of a lazy list, read by a thread of its own as they are needed, so that a silent pipe holds up neither
/// the schedule nor the end of the run. One worker takes them, some at a time.
class TargetFeed {
 public:
  /// Gives the targets of the list that are for hits of `shard`. `on_change` runs on the reading thread whenever
  /// refill() may give something after it gave nothing. It may not throw. `cancel` must make a blocked Targeter::next()
  /// return soon; it runs in the destructor.
  TargetFeed(Targeter& targeter, const RequestOptions& options, Shard shard, std::function<void()> on_change,
             std::function<void()> cancel);
  ~TargetFeed();

  /// Waits until the first target or the end of the list was read, but no longer than `at_most`.
  void await_first(Nanos at_most);

  using Batch = std::deque<std::unique_ptr<OwnedTarget>>;
  enum class State { kSome, kNotYet, kEnded };
  /// Fills `batch`, which is empty, with all that is read and not yet taken. The one lock of many hits.
  State refill(Batch& batch);
  /// The error that ended the list, or empty.
  std::string error();

 private:
  void run(Targeter& targeter);
  bool read_one(Targeter& targeter);
  Expected<std::optional<Target>> next_of_shard(Targeter& targeter);

  const RequestOptions& options_;
  Shard shard_;
  std::uint64_t read_{0};   // targets of the list
  std::uint64_t taken_{0};  // those of the shard
  std::function<void()> on_change_;
  std::function<void()> cancel_;
  std::mutex mutex_;
  std::condition_variable room_;
  std::condition_variable begun_;
  Batch ready_;
  bool any_{false};  // targets were read
  bool waited_for_{false};
  bool ended_{false};
  bool cancelled_{false};
  std::string error_;
  std::thread thread_;
};

}  // namespace pepe
