#include "cli/run_spans.h"

#include <algorithm>

namespace pepe {
namespace {

// Runs beyond this many are lumped together: memory stays bounded, and the remark is about merged files, not
// thousands.
constexpr std::size_t kMostSpans = 1024;

}  // namespace

RunSpans::Span* RunSpans::find(std::size_t input, const Result& result) {
  if (input >= latest_.size()) latest_.resize(input + 1, kMostSpans);
  if (latest_[input] < spans_.size() && spans_[latest_[input]].attack == result.attack) return &spans_[latest_[input]];
  const auto known = std::find_if(spans_.begin(), spans_.end(), [&](const Span& span) {
    return span.input == input && span.attack == result.attack;
  });
  std::size_t index = static_cast<std::size_t>(known - spans_.begin());
  if (known == spans_.end()) {
    if (spans_.size() < kMostSpans) {
      const std::int64_t at = result.timestamp.unix_nanos;
      spans_.push_back({input, std::string{result.attack}, at, at, 0});
    } else {
      --index;
    }
  }
  latest_[input] = index;
  return &spans_[index];
}

void RunSpans::add(std::size_t input, const Result& result) {
  Span& span = *find(input, result);
  span.first = std::min(span.first, result.timestamp.unix_nanos);
  span.last = std::max(span.last, result.timestamp.unix_nanos);
  ++span.hits;
}

std::optional<Nanos> RunSpans::longest_gap() const {
  if (spans_.size() < 2) return std::nullopt;
  std::vector<Span> sorted = spans_;
  std::sort(sorted.begin(), sorted.end(), [](const Span& a, const Span& b) { return a.first < b.first; });
  // In floating point: the instants of hostile files may be further apart than 64 bits can say.
  double longest = 0;
  double between_hits = 0;
  std::int64_t end = sorted.front().last;
  for (const Span& span : sorted) {
    longest = std::max(longest, static_cast<double>(span.first) - static_cast<double>(end));
    end = std::max(end, span.last);
    const double length = static_cast<double>(span.last) - static_cast<double>(span.first);
    if (span.hits > 1) between_hits = std::max(between_hits, length / static_cast<double>(span.hits - 1));
  }
  const double whole = static_cast<double>(end) - static_cast<double>(sorted.front().first);
  constexpr double kSecond = 1e9;
  constexpr double kMostNanos = 9e18;
  if (longest <= kSecond || longest <= whole / 10 || longest <= 2 * between_hits) return std::nullopt;
  return Nanos{static_cast<std::int64_t>(std::min(longest, kMostNanos))};
}

}  // namespace pepe
