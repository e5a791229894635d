#pragma once

#include <cstdint>
#include <vector>

#include "pepe/base/time.h"

namespace pepe {

/// Counts of latencies in the buckets that a report asks for: bucket j holds bound j <= latency < bound j+1, and what
/// fits nowhere counts in the last one.
class BucketHistogram {
 public:
  /// `bounds`: empty: nothing is counted. Not ascending: the first bucket that fits counts.
  explicit BucketHistogram(std::vector<Nanos> bounds);

  bool empty() const noexcept { return bounds_.empty(); }
  /// REQUIRES: !empty().
  void add(Nanos latency);

  const std::vector<Nanos>& bounds() const noexcept { return bounds_; }
  const std::vector<std::uint64_t>& counts() const noexcept { return counts_; }

 private:
  std::size_t bucket_of(Nanos latency) const;

  std::vector<Nanos> bounds_;
  std::vector<std::uint64_t> counts_;
  bool ascending_;
};

}  // namespace pepe
