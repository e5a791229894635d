#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/body_budget.h"
#include "engine/dialer.h"
#include "engine/hit.h"
#include "engine/request.h"
#include "engine/sink.h"
#include "engine/start_time.h"
#include "engine/target_feed.h"
#include "pepe/engine/attack.h"
#include "pepe/pacer/pacer.h"
#include "pepe/target/target.h"

namespace pepe {

/// How far a run has been told to end.
enum class Stop : int {
  kNo = 0,
  kNoNewHits = 1,  ///< The answers of what was sent are waited for.
  kAtOnce = 2,     ///< Nothing is waited for.
};

/// What the workers of one attack share. Immutable once they run, but for the ticket, the stop flag and the sink.
struct AttackState {
  const AttackOptions& options;
  const Pacer& pacer;
  RequestOptions request_options;
  std::vector<Target> targets;    ///< Eager lists; else `feed` yields them.
  std::vector<Request> requests;  ///< One for each of `targets`.
  TargetFeed* feed{nullptr};
  DialPlan* plan{nullptr};
  Sink* sink{nullptr};
  std::uint64_t run_id{0};
  StartTime time;

  BodyBudget bodies{body_memory_limit()};

  /// The next hit number. The only shared write per hit.
  alignas(64) std::atomic<std::uint64_t> ticket{0};
  /// The same for the warm-up, whose hits are numbered by themselves.
  alignas(64) std::atomic<std::uint64_t> warmup_ticket{0};
  alignas(64) std::atomic<Stop> stop{Stop::kNo};
  /// When `stop` was first set, as an offset from the start, and never 0 then: hits due before are still sent.
  std::atomic<Nanos::rep> stop_offset{0};
};

}  // namespace pepe
