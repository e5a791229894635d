#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pepe/metrics/metrics.h"
#include "pepe/report/reporter.h"
#include "report/confidence.h"

namespace pepe {

/// One figure of two sets of results.
struct Change {
  enum class Confidence {
    kNotJudged,  ///< Nothing is said of how sure it is.
    kTooFew,     ///< There are too few results to say.
    kKnown,      ///< `interval` says.
  };

  double base{0};
  double changed{0};
  Confidence confidence{Confidence::kNotJudged};
  Interval interval{};  ///< Of the difference.

  double difference() const noexcept { return changed - base; }
  /// The difference as a share of the base; nullopt: that is 0.
  std::optional<double> relative() const noexcept;
};

/// Whether a figure that has grown is for the worse.
enum class Growth { kWorse, kBetter };

/// What can be said of a change that was judged: "slower", "faster" or, for a ratio, "worse", "better"; "unclear" where
/// it may be none; "same" where it is none; "too few hits". REQUIRES: confidence is not kNotJudged.
std::string_view verdict(const Change& change, Growth growth);

struct NamedChange {
  std::string name;
  Change change;
};

/// All that two sets of results are compared by.
struct Comparison {
  Change requests, rate, throughput, success;
  Change bytes_in, bytes_in_mean, bytes_out, bytes_out_mean;
  Change min, mean, max;
  std::vector<NamedChange> quantiles;  ///< By their percentiles.
  std::map<std::uint16_t, Change> status_codes;
  std::vector<NamedChange> errors;  ///< Kinds of errors, in order of first appearance in the base, then in the other.
  Change errors_left_out;
};

/// `changed` against `base`, at the quantiles of `style`.
Comparison compare(const Metrics& base, const Metrics& changed, const ReportStyle& style);

}  // namespace pepe
