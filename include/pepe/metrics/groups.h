#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pepe/base/expected.h"
#include "pepe/base/time.h"
#include "pepe/metrics/metrics.h"
#include "pepe/result/result.h"

namespace pepe {

/// What results are told apart by. One row of the registry.
struct GroupKey {
  std::string_view name;  ///< As in -group-by.
  /// Appends the group that `result` belongs to.
  void (*append)(const Result& result, std::string& out);
};

/// The keys that exist: target, url, method, attack, code, protocol.
std::span<const GroupKey> group_keys();
/// Their names, with commas between.
std::string group_key_names();

/// Error: `unknown group: "x": want target, ...`.
Expected<const GroupKey*> find_group_key(std::string_view name);

/// The results of one group.
struct ResultGroup {
  std::string name;
  Metrics metrics;
};

/// Gathers results by group, in order of their first appearance. Memory is bounded: names are cut at 4 KB; beyond
/// kMaxGroups all further ones are one more group, `(others)`; and each is exact in its quantiles up to kExactPerGroup
/// results only (then within 0.1 %, as Metrics beyond a million). Not thread-safe.
class GroupedMetrics {
 public:
  static constexpr std::size_t kMaxGroups = 256;
  static constexpr std::size_t kExactPerGroup = 10'000;

  /// `bounds` as for Metrics.
  GroupedMetrics(const GroupKey& key, std::vector<Nanos> bounds);
  ~GroupedMetrics();
  GroupedMetrics(GroupedMetrics&&) noexcept;
  GroupedMetrics& operator=(GroupedMetrics&&) noexcept;

  void add(const Result& result) { add(result, result.latency); }
  /// As Metrics::add().
  void add(const Result& result, Nanos latency);
  const GroupKey& key() const noexcept;
  std::span<const ResultGroup> groups() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace pepe
