#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "pepe/base/time.h"
#include "pepe/base/units.h"

namespace pepe {

/// The schedule of an attack: when each hit is due.
/// Pure: no clock and no state, so all workers share one Pacer without a lock.
class Pacer {
 public:
  virtual ~Pacer() = default;

  /// When hit `n` (0-based) is due, as an offset from the attack's start. Non-decreasing in `n`; hit 0 is due at
  /// 0, or at the end of a pause that comes first. nullopt: there is no hit `n`, or not within 292 years.
  virtual std::optional<Nanos> due(std::uint64_t n) const noexcept = 0;

  /// How many hits are due before `offset`: the smallest n with due(n) >= offset (0 for an offset of 0 or
  /// less). At most UINT64_MAX, which is what an unpaced schedule gives.
  virtual std::uint64_t hits_before(Nanos offset) const noexcept = 0;

  /// True when every hit is due at once: the closed loop.
  virtual bool unpaced() const noexcept { return false; }
};

/// Hit n due at exactly floor(n * per / hits), in 128-bit arithmetic, so no rate drifts: thirds of a second fill
/// every second, 10^9/s and 1/h work, and rates above one a nanosecond give several hits the same instant.
/// REQUIRES: rate.hits >= 0, rate.per >= 0. An unpaced rate gives a pacer whose hits are all due at 0.
std::unique_ptr<Pacer> make_constant_pacer(Rate rate);

}  // namespace pepe
