#pragma once

#include <cstdint>

#include "pepe/base/check.h"
#include "pepe/pacer/pacer.h"

namespace pepe::fuzz {

/// A schedule never goes backwards, and counts the hits before an instant as it places them: at hit `n`.
inline void check_schedule(const Pacer& pacer, std::uint64_t n) {
  const auto due = pacer.due(n);
  if (!due || pacer.unpaced()) return;
  PEPE_CHECK(due->count() >= 0 && pacer.hits_before(*due) <= n);
  if (*due < Nanos::max() && n < UINT64_MAX) PEPE_CHECK(pacer.hits_before(*due + Nanos{1}) > n);
  if (n > 0) PEPE_CHECK(pacer.due(n - 1) <= due);
}

}  // namespace pepe::fuzz
