#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pepe/base/time.h"
#include "pepe/result/result.h"
#include "pepe/result/run_facts.h"

namespace pepe {

/// Error texts that differ in nothing but the local port of the connection or the number of the HTTP/2 stream.
struct ErrorKind {
  std::string text;  ///< With `*` for the number when there are several, else the text as it is.
  std::string key;   ///< With `*` in any case: the same for this kind in whatever results it is found.
  std::uint64_t count{0};
  bool merged{false};  ///< There are several.
};

/// The figures of a set of results, as they stand.
struct MetricsSummary {
  std::uint64_t requests{0};
  std::uint64_t successes{0};  ///< 200 <= code < 400.
  Nanos latency_total{0};      ///< Saturates.
  Nanos latency_mean{0};       ///< Total / requests, truncated to whole nanoseconds.
  Nanos latency_min{0};        ///< As vegeta has it: a 0 gives way to the next latency, unless it is the first one.
  Nanos latency_max{0};
  std::uint64_t bytes_in_total{0};
  std::uint64_t bytes_out_total{0};
  double bytes_in_mean{0};
  double bytes_out_mean{0};
  std::optional<Timestamp> earliest;  ///< nullopt without results.
  std::optional<Timestamp> latest;
  std::optional<Timestamp> end;  ///< Latest timestamp + latency.
  Nanos duration{0};             ///< latest - earliest.
  Nanos wait{0};                 ///< end - latest.
  double rate{0};
  double throughput{0};
  double success{0};
  std::map<std::uint16_t, std::uint64_t> status_codes;
  /// Distinct error texts in order of first appearance, with their counts: the first of each kind, and at most
  /// kMaxErrors more.
  std::vector<std::pair<std::string, std::uint64_t>> errors;
  /// The same by kind, with whole counts; at most kMaxErrors of them.
  std::vector<ErrorKind> error_kinds;
  std::uint64_t errors_left_out{0};  ///< Results whose kind of error was beyond the limit.
};

inline constexpr std::size_t kMaxErrors = 1000;

/// What bounds the memory of Metrics.
struct MetricsLimits {
  std::size_t exact_latencies{1'000'000};         ///< 8 bytes each; more than these are counted in slots: 230 KB.
  std::size_t error_bytes{std::size_t{4} << 20};  ///< Of distinct error texts.
};

/// Gathers results. Memory is bounded whatever their number. Not thread-safe.
class Metrics {
 public:
  /// `bounds`: lower bounds of histogram buckets, as parse_buckets() gives them; empty: no histogram.
  explicit Metrics(std::vector<Nanos> bounds = {}, MetricsLimits limits = {});
  ~Metrics();
  Metrics(Metrics&&) noexcept;
  Metrics& operator=(Metrics&&) noexcept;

  void add(const Result& result) { add(result, result.latency); }
  /// `latency` counts in the place of the result's own; its times stay what they are.
  void add(const Result& result, Nanos latency);
  /// Facts of a run whose results are among these; later facts of the same run replace earlier ones. Past some ten
  /// thousand runs they are no longer kept.
  void add(const RunFacts& facts);

  MetricsSummary summary() const;
  /// Latency at quantile `q` in [0,1]: Hazen's rule over all results up to `exact_latencies`; beyond that within 0.1 %
  /// (docs/measurement.md). 0 without results.
  Nanos quantile(double q) const;
  /// How many results there are.
  std::uint64_t count() const noexcept;
  /// The `rank`-th latency in ascending order, from 0: at its least and at its most, which are one up to
  /// `exact_latencies` results. REQUIRES: rank < count().
  std::pair<Nanos, Nanos> ranked(std::uint64_t rank) const;
  const std::vector<Nanos>& bounds() const noexcept;
  /// Results per bucket; what fits nowhere counts in the last.
  const std::vector<std::uint64_t>& bucket_counts() const noexcept;
  const std::vector<RunFacts>& runs() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace pepe
