#pragma once

// HOT: both add() run once per result. No allocation, lock, log or wall clock once they have grown.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "pepe/base/time.h"

namespace pepe {

/// Counts of values in log-linear slots: 512 to each power of two, so that the middle of a slot is within 1/1024 of
/// every value in it, and exactly it below 1024. About 230 KB, whatever is counted; as much again for negative values.
class LogLinearCounts {
 public:
  void add(std::int64_t value) {
    const bool negative = value < 0;
    const auto magnitude = negative ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
    std::vector<std::uint64_t>& slots = negative ? below_zero_ : slots_;
    if (slots.empty()) [[unlikely]]
      slots.resize(kSlots);
    ++slots[slot_of(magnitude)];
  }

  /// The `rank`-th value in ascending order, from 0, as the middle of its slot. REQUIRES: more than `rank` were added.
  std::int64_t at(std::uint64_t rank) const;
  /// Both ends of that slot: what the value is at its least and at its most.
  std::pair<std::int64_t, std::int64_t> range_at(std::uint64_t rank) const;

 private:
  struct Place {
    std::size_t slot;
    bool below_zero;
  };
  Place find(std::uint64_t rank) const;

  static constexpr int kMantissaBits = 9;
  static constexpr std::uint64_t kPerOctave = std::uint64_t{1} << kMantissaBits;
  static constexpr std::size_t kSlots = (64 - kMantissaBits + 1) * kPerOctave;

  static std::size_t slot_of(std::uint64_t magnitude) {
    const auto width = static_cast<int>(std::bit_width(magnitude));
    const int shift = width > kMantissaBits + 1 ? width - (kMantissaBits + 1) : 0;
    return static_cast<std::size_t>(static_cast<std::uint64_t>(shift) * kPerOctave + (magnitude >> shift));
  }
  /// How many bits of its values a slot leaves open.
  static std::uint64_t shift_of(std::size_t slot) { return slot < 2 * kPerOctave ? 0 : slot / kPerOctave - 1; }
  static std::uint64_t least_of(std::size_t slot) {
    const std::uint64_t shift = shift_of(slot);
    return (slot - shift * kPerOctave) << shift;
  }

  std::vector<std::uint64_t> slots_;
  std::vector<std::uint64_t> below_zero_;
};

/// Latencies, asked for their quantiles. Keeps each of them up to a limit, 8 bytes each, and counts in log-linear slots
/// after that. Not thread-safe, not even among readers: asking puts the latencies in order.
class Quantiles {
 public:
  explicit Quantiles(std::size_t exact_limit) : exact_limit_{exact_limit} {}

  void add(std::int64_t latency) {
    lowest_ = latency < lowest_ ? latency : lowest_;
    highest_ = latency > highest_ ? latency : highest_;
    if (count_++ < exact_limit_) [[likely]] {
      if (exact_.size() == exact_.capacity()) [[unlikely]]
        make_room();
      exact_.push_back(latency);
      settled_.clear();
    } else {
      add_to_counts(latency);
    }
  }

  /// Hazen's rule: the j-th of n sorted latencies (from 0) sits at position j + 0.5 of n, with straight lines between
  /// and the outermost ones beyond. Truncated to whole nanoseconds; 0 without latencies.
  std::int64_t at(double q);

  /// The `rank`-th latency in ascending order, from 0: at its least and at its most. They are one up to the limit.
  /// REQUIRES: rank < count().
  std::pair<std::int64_t, std::int64_t> range_at(std::uint64_t rank);

  std::uint64_t count() const noexcept { return count_; }

 private:
  void make_room();
  void add_to_counts(std::int64_t latency);
  std::int64_t ranked(std::uint64_t rank);
  std::int64_t select(std::size_t rank);

  std::size_t exact_limit_;
  std::uint64_t count_{0};
  std::int64_t lowest_{INT64_MAX};
  std::int64_t highest_{INT64_MIN};
  std::vector<std::int64_t> exact_;
  /// Ranks of exact_, ascending, whose latency stands where it would stand if all were sorted; no latency before such
  /// a place is above it, none after it is below.
  std::vector<std::size_t> settled_;
  LogLinearCounts counts_;
};

}  // namespace pepe
