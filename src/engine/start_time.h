#pragma once

#include <functional>
#include <string_view>

#include "pepe/base/expected.h"
#include "pepe/base/time.h"
#include "pepe/engine/attack.h"

namespace pepe {

/// When a run starts, on both clocks, and when its warm-up does.
struct StartTime {
  Timestamp start;
  Instant start_instant;
  Instant warmup_instant;
};

/// Waits, if `options.start_at` is far, until there is nearly something to do, and says so by `notice`. Else the
/// warm-up, or the run, begins now. Error: it is too late for that start.
Expected<StartTime> await_start(const AttackOptions& options, const std::function<void(std::string_view)>& notice);

}  // namespace pepe
