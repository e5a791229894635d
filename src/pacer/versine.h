#pragma once

#include <cstdint>

namespace pepe {

/// A turn is 2^20 angles.
inline constexpr unsigned kTurnBits = 20;

/// (1 - cos(x)) / (2 pi), times 2^62, where x is `angle` / 2^20 of a turn; off by less than 2. In whole numbers: the
/// same on every machine, and without libm, which is a third of a megabyte of every run's memory.
/// REQUIRES: angle <= 2^20.
std::uint64_t versine(std::uint64_t angle) noexcept;

}  // namespace pepe
