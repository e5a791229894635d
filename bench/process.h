#pragma once

#include <cstdint>

#include "pepe/base/expected.h"

namespace pepe {

/// What this process has used so far.
struct ProcessUsage {
  double user_seconds{0};
  double system_seconds{0};
  std::uint64_t peak_rss_kb{0};

  double cpu_seconds() const noexcept { return user_seconds + system_seconds; }
};

ProcessUsage process_usage();

/// Keeps this process on one core.
Expected<void> pin_to_cpu(std::uint64_t cpu);

/// As many descriptors as the hard limit allows, and timers that fire when they are due.
void raise_limits();

}  // namespace pepe
