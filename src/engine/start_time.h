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

/// With `options.start_at`: sleeps until shortly before the warm-up, or the run, is to begin; `notice`, which may be
/// empty, is told of a wait of more than a second. Where signals are handled, one ends the sleep, is kept for the run,
/// and changes no time. Without `options.start_at` they begin now. Error: that start, or its warm-up, has passed, or
/// there is no descriptor to wait with.
Expected<StartTime> await_start(const AttackOptions& options, const std::function<void(std::string_view)>& notice);

}  // namespace pepe
