#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pepe/base/expected.h"
#include "pepe/metrics/metrics.h"

namespace pepe {

/// A condition under which a set of results counts as bad: "p99>300ms", "success<99.5%", "errors>0"; or, against the
/// base of a comparison, "p99>+5%".
class Threshold {
 public:
  /// FIGURE, one of > >= < <=, VALUE. Figures: pN (0 to 100, as in p99.9), min, mean, max with a duration;
  /// success with a ratio or a percentage; requests, errors, rate, throughput with a number. With any of them a
  /// percentage with its sign: the change, as a share of the figure of the base. Error: what was expected.
  static Expected<Threshold> parse(std::string_view text);

  /// How the results break it: "p99>300ms: p99 is 412ms". nullopt: they do not.
  /// REQUIRES: !needs_base() or `base`.
  std::optional<std::string> broken_by(const Metrics& metrics, const Metrics* base = nullptr) const;

  bool needs_base() const noexcept { return is_change_; }
  const std::string& text() const noexcept { return text_; }

 private:
  enum class Unit { kDuration, kRatio, kNumber };
  enum class Compare { kAbove, kAtLeast, kBelow, kAtMost };

  Threshold() = default;
  static std::optional<Unit> unit_of(std::string_view figure);
  static Expected<double> parse_limit(Unit unit, std::string_view text);
  static Expected<double> parse_change(std::string_view text);
  bool is_met(double value) const;
  std::string shown(double value) const;
  std::optional<std::string> broken_by_change(double before, double after) const;
  double value_in(const Metrics& metrics) const;

  std::string text_;
  std::string figure_;
  Unit unit_{Unit::kNumber};
  Compare compare_{Compare::kAbove};
  bool is_change_{false};
  double limit_{0};  ///< Nanoseconds, a ratio from 0 to 1, or a number; of a change, a share of the base.
};

/// Lists the thresholds that are broken; `whose` stands in front of each, `base` is for those that need one. Returns
/// the exit status.
int judge(const std::vector<Threshold>& thresholds, const Metrics& metrics, const std::string& whose = "",
          const Metrics* base = nullptr);

}  // namespace pepe
