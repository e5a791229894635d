#include "metrics/histogram.h"

#include <algorithm>
#include <utility>

namespace pepe {

BucketHistogram::BucketHistogram(std::vector<Nanos> bounds)
    : bounds_{std::move(bounds)}, counts_(bounds_.size()), ascending_{std::is_sorted(bounds_.begin(), bounds_.end())} {}

void BucketHistogram::add(Nanos latency) { ++counts_[bucket_of(latency)]; }

std::size_t BucketHistogram::bucket_of(Nanos latency) const {
  const std::size_t last = bounds_.size() - 1;
  if (ascending_) {
    const auto above = std::upper_bound(bounds_.begin(), bounds_.end(), latency);
    return above == bounds_.begin() ? last : static_cast<std::size_t>(above - bounds_.begin()) - 1;
  }
  for (std::size_t i = 0; i < last; ++i) {
    if (latency >= bounds_[i] && latency < bounds_[i + 1]) return i;
  }
  return last;
}

}  // namespace pepe
