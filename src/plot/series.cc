#include "plot/series.h"

#include <algorithm>
#include <utility>

namespace pepe {
namespace {

/// Attacks past this many are drawn as one.
constexpr std::size_t kMaxAttacks = 500;
constexpr std::string_view kOthers = "(others)";
constexpr std::size_t kMaxName = 256;
/// Points kept while gathering, all series together, unless a threshold asks for more. 4 MB.
constexpr std::size_t kMaxHeld = 1 << 18;
/// A threshold above this is taken at its word, whatever memory it costs.
constexpr std::size_t kUsualThreshold = 4000;

void sort_by_time(std::vector<PlotPoint>& points) {
  const auto earlier = [](const PlotPoint& a, const PlotPoint& b) { return a.time < b.time; };
  if (!std::is_sorted(points.begin(), points.end(), earlier)) std::stable_sort(points.begin(), points.end(), earlier);
}

}  // namespace

SeriesGatherer::SeriesGatherer(std::int64_t threshold)
    : threshold_{threshold == 0 ? SIZE_MAX : static_cast<std::size_t>(std::max<std::int64_t>(3, threshold))},
      held_limit_{kMaxHeld} {}

void SeriesGatherer::add(const Result& result) {
  Attack& attack = attack_of(result.attack);
  const std::int64_t time = result.timestamp.unix_nanos;
  const bool is_first = attack.ok.hits + attack.error.hits == 0;
  if (is_first || time < attack.earliest) attack.earliest = time;
  if (result.seq == 0 && (!attack.first_hit || time < *attack.first_hit)) attack.first_hit = time;

  Line& line = result.error.empty() ? attack.ok : attack.error;
  ++line.hits;
  line.points.push_back({time, result.latency.count()});
  if (++held_ >= held_limit_ && threshold_ != SIZE_MAX) [[unlikely]]
    thin_all();
}

SeriesGatherer::Attack& SeriesGatherer::attack_of(std::string_view name) {
  name = name.substr(0, kMaxName);
  if (last_ != attacks_.end() && last_->first == name) return last_->second;
  last_ = attacks_.find(name);
  if (last_ == attacks_.end()) {
    last_ = attacks_.try_emplace(std::string{attacks_.size() < kMaxAttacks ? name : kOthers}).first;
  }
  return last_->second;
}

// For each series. Twice the threshold at least, so that what is drawn is chosen by the finer thinning; where there are
// so many series that a page could not hold as many points of each, fewer.
std::size_t SeriesGatherer::points_to_hold() const {
  if (threshold_ > kUsualThreshold) return 2 * threshold_;
  const std::size_t share = std::max<std::size_t>(8, kMaxHeld / (2 * attacks_.size()));
  return std::max(2 * std::min(threshold_, share), share / 2);
}

void SeriesGatherer::thin_all() {
  const std::size_t hold = points_to_hold();
  held_ = 0;
  for (auto& [name, attack] : attacks_) {
    for (Line* line : {&attack.ok, &attack.error}) {
      if (line->points.size() > hold) {
        sort_by_time(line->points);
        keep_extremes(line->points, hold);
      }
      held_ += line->points.size();
    }
  }
  held_limit_ = std::max(kMaxHeld, 2 * held_);
}

std::vector<Series> SeriesGatherer::take() {
  std::vector<Series> all;
  for (auto& [name, attack] : attacks_) {
    const std::int64_t start = attack.first_hit.value_or(attack.earliest);
    for (const auto& [line, outcome] : {std::pair{&attack.error, ": ERROR"}, std::pair{&attack.ok, ": OK"}}) {
      if (line->hits == 0) continue;
      sort_by_time(line->points);
      all.push_back({name + outcome, line->hits, start, std::move(line->points)});
    }
  }
  std::sort(all.begin(), all.end(), [](const Series& a, const Series& b) { return a.label < b.label; });
  attacks_.clear();
  last_ = attacks_.end();
  held_ = 0;
  return all;
}

}  // namespace pepe
