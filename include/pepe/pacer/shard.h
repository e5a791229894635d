#pragma once

#include <cstdint>

namespace pepe {

/// Which part of a schedule a process sends, of `count` that share it: every `count`th hit, from number `index` on. The
/// parts of all make the whole, each hit once. REQUIRES: index < count.
struct Shard {
  std::uint64_t index{0};
  std::uint64_t count{1};

  /// The number in the whole schedule of this part's hit `n`.
  constexpr std::uint64_t number_of(std::uint64_t n) const noexcept { return index + n * count; }
  /// How many of the schedule's first `hits` are of this part.
  constexpr std::uint64_t part_of(std::uint64_t hits) const noexcept {
    return hits > index ? (hits - index - 1) / count + 1 : 0;
  }
  friend bool operator==(const Shard&, const Shard&) = default;
};

}  // namespace pepe
