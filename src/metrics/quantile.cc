#include "metrics/quantile.h"

#include <algorithm>
#include <cmath>

#include "pepe/base/check.h"

namespace pepe {

namespace {

// The slot of INT64_MIN reaches beyond what has a negative.
std::int64_t signed_value(std::uint64_t magnitude, bool below_zero) {
  const auto value = static_cast<std::int64_t>(std::min<std::uint64_t>(magnitude, INT64_MAX));
  return below_zero ? -value : value;
}

}  // namespace

LogLinearCounts::Place LogLinearCounts::find(std::uint64_t rank) const {
  std::uint64_t before = 0;
  for (std::size_t slot = below_zero_.size(); slot-- > 0;) {
    before += below_zero_[slot];
    if (before > rank) return {slot, true};
  }
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
    before += slots_[slot];
    if (before > rank) return {slot, false};
  }
  PEPE_CHECK(before > rank);
  return {0, false};
}

std::int64_t LogLinearCounts::at(std::uint64_t rank) const {
  const Place place = find(rank);
  const std::uint64_t half = (std::uint64_t{1} << shift_of(place.slot)) >> 1;
  return signed_value(least_of(place.slot) + half, place.below_zero);
}

std::pair<std::int64_t, std::int64_t> LogLinearCounts::range_at(std::uint64_t rank) const {
  const Place place = find(rank);
  const std::uint64_t least = least_of(place.slot);
  const std::int64_t near_zero = signed_value(least, place.below_zero);
  const std::int64_t far = signed_value(least + ((std::uint64_t{1} << shift_of(place.slot)) - 1), place.below_zero);
  return std::minmax({near_zero, far});
}

// The last step is to the full size at once: pages that are not used yet cost nothing, whereas a copy from one half to
// the whole would need both at a time.
void Quantiles::make_room() {
  constexpr std::size_t kLastSmall = 65'536;
  exact_.reserve(exact_.size() < kLastSmall ? std::max<std::size_t>(64, 2 * exact_.size()) : exact_limit_);
}

void Quantiles::add_to_counts(std::int64_t latency) {
  if (!exact_.empty()) {
    for (const std::int64_t one : exact_) counts_.add(one);
    std::vector<std::int64_t>{}.swap(exact_);
    settled_.clear();
  }
  counts_.add(latency);
}

std::int64_t Quantiles::at(double q) {
  if (count_ == 0) return 0;
  const double position = q * static_cast<double>(count_) - 0.5;
  if (!(position > 0)) return lowest_;
  if (position >= static_cast<double>(count_ - 1)) return highest_;
  const auto rank = static_cast<std::uint64_t>(position);
  const std::int64_t low = ranked(rank);
  const std::int64_t high = ranked(rank + 1);
  const auto gap = static_cast<double>(static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low));
  const auto part = static_cast<std::uint64_t>(gap * (position - std::floor(position)));
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + part);
}

std::int64_t Quantiles::ranked(std::uint64_t rank) {
  if (rank == 0) return lowest_;
  if (rank + 1 >= count_) return highest_;
  if (!exact_.empty()) return select(static_cast<std::size_t>(rank));
  return std::clamp(counts_.at(rank), lowest_, highest_);
}

std::pair<std::int64_t, std::int64_t> Quantiles::range_at(std::uint64_t rank) {
  PEPE_CHECK(rank < count_);
  if (!exact_.empty() || rank == 0 || rank + 1 == count_) {
    const std::int64_t latency = ranked(rank);
    return {latency, latency};
  }
  const auto [least, most] = counts_.range_at(rank);
  return {std::clamp(least, lowest_, highest_), std::clamp(most, lowest_, highest_)};
}

// Quickselect between the nearest settled ranks: a few quantiles cost little more than one pass over the latencies, and
// a hundred of them no more than sorting.
std::int64_t Quantiles::select(std::size_t rank) {
  const auto next = std::lower_bound(settled_.begin(), settled_.end(), rank);
  if (next == settled_.end() || *next != rank) {
    const std::size_t first = next == settled_.begin() ? 0 : *std::prev(next) + 1;
    const std::size_t last = next == settled_.end() ? exact_.size() : *next;
    const auto at = [this](std::size_t index) { return exact_.begin() + static_cast<std::ptrdiff_t>(index); };
    std::nth_element(at(first), at(rank), at(last));
    settled_.insert(next, rank);
  }
  return exact_[rank];
}

}  // namespace pepe
