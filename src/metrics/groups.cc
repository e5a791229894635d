#include "pepe/metrics/groups.h"

#include <string>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "pepe/base/text.h"

namespace pepe {
namespace {

constexpr MetricsLimits kGroupLimits{.exact_latencies = GroupedMetrics::kExactPerGroup,
                                     .error_bytes = std::size_t{64} << 10};
constexpr std::string_view kOthers = "(others)";
// Of a group's name, which may be a URL of any length.
constexpr std::size_t kMaxNameBytes = 4096;

// Where there is no @, there are no credentials.
void append_shown(std::string_view url, std::string& out) {
  if (url.find('@') == std::string_view::npos) {
    out.append(url);
  } else {
    out.append(without_credentials(url));
  }
}

void append_target(const Result& result, std::string& out) {
  out.append(result.method).append(out.empty() ? "" : " ");
  append_shown(result.url, out);
}
void append_url(const Result& result, std::string& out) { append_shown(result.url, out); }
void append_method(const Result& result, std::string& out) { out.append(result.method); }
void append_attack(const Result& result, std::string& out) { out.append(result.attack); }
void append_code(const Result& result, std::string& out) { out.append(std::to_string(result.code)); }
void append_protocol(const Result& result, std::string& out) {
  constexpr std::string_view kNames[] = {"none", "HTTP/1.1", "HTTP/2"};
  out.append(kNames[static_cast<std::size_t>(result.protocol)]);
}

constexpr GroupKey kKeys[] = {
    {"target", append_target}, {"url", append_url},   {"method", append_method},
    {"attack", append_attack}, {"code", append_code}, {"protocol", append_protocol},
};

}  // namespace

std::span<const GroupKey> group_keys() { return kKeys; }

std::string group_key_names() {
  std::string names;
  for (const GroupKey& key : kKeys) names.append(names.empty() ? "" : ", ").append(key.name);
  return names;
}

Expected<const GroupKey*> find_group_key(std::string_view name) {
  for (const GroupKey& key : kKeys) {
    if (key.name == name) return &key;
  }
  return Error{fmt::format("unknown group: {}: want {}", quote(name), group_key_names())};
}

struct GroupedMetrics::State {
  ResultGroup& group_of(const Result& result);

  const GroupKey& key;
  std::vector<Nanos> bounds;
  std::vector<ResultGroup> groups;
  std::unordered_map<std::string, std::size_t> index;
  std::string name;  // of the result at hand
};

GroupedMetrics::GroupedMetrics(const GroupKey& key, std::vector<Nanos> bounds)
    : state_{std::make_unique<State>(State{key, std::move(bounds), {}, {}, {}})} {}
GroupedMetrics::~GroupedMetrics() = default;
GroupedMetrics::GroupedMetrics(GroupedMetrics&&) noexcept = default;
GroupedMetrics& GroupedMetrics::operator=(GroupedMetrics&&) noexcept = default;

void GroupedMetrics::add(const Result& result, Nanos latency) { state_->group_of(result).metrics.add(result, latency); }

const GroupKey& GroupedMetrics::key() const noexcept { return state_->key; }
std::span<const ResultGroup> GroupedMetrics::groups() const noexcept { return state_->groups; }

ResultGroup& GroupedMetrics::State::group_of(const Result& result) {
  name.clear();
  key.append(result, name);
  if (name.size() > kMaxNameBytes) name.resize(kMaxNameBytes);
  if (const auto known = index.find(name); known != index.end()) return groups[known->second];
  if (groups.size() > kMaxGroups) return groups.back();
  const bool last = groups.size() == kMaxGroups;
  if (!last) index.emplace(name, groups.size());
  groups.push_back({last ? std::string{kOthers} : name, Metrics{bounds, kGroupLimits}});
  return groups.back();
}

}  // namespace pepe
