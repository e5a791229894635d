#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "pepe/result/result.h"

namespace pepe {

enum class MetricsFormat {
  kText,         ///< Prometheus' text format, version 0.0.4.
  kOpenMetrics,  ///< OpenMetrics 1.0.0.
};

/// What the client prefers by its Accept header; kText when that says nothing.
MetricsFormat preferred_format(std::string_view accept);
/// The Content-Type of a page of metrics.
std::string_view content_type(MetricsFormat format) noexcept;

/// The url label of a target: its URL without credentials, query and fragment, which may hold secrets and
/// have as many values as there are hits. Cut when it is long; "unusable" for what is no URL.
std::string url_label(std::string_view url);
/// The message label of a failed hit: the cause alone, without what differs from hit to hit (this end's port)
/// or may hold secrets (URLs, anything quoted). `Get "URL": read tcp A:P->B:P: read: REASON` becomes `read
/// tcp B:P: read: REASON`.
std::string message_label(std::string_view error);

/// Counts results for Prometheus, in the families and with the labels of vegeta's exporter: request_seconds,
/// request_bytes_in, request_bytes_out by method, status and url; request_fail_count by message as well.
/// Memory is bounded: beyond kMaxSeries label sets, results count under url="other", failures under
/// message="other". Not thread-safe.
class RequestMetrics {
 public:
  static constexpr std::size_t kMaxSeries = 1000;

  void add(const Result& result);
  /// Appends a whole page of metrics.
  void render(MetricsFormat format, std::string& out) const;

 private:
  static constexpr std::size_t kBuckets = 12;

  struct Series {
    std::array<std::uint64_t, kBuckets> hits{};  ///< By bucket of their latency, not cumulative.
    Nanos latency{0};
    std::uint64_t bytes_in{0};
    std::uint64_t bytes_out{0};
  };
  /// Label sets as they are printed, so sorted and distinct by what is printed.
  using SeriesByLabels = std::map<std::string, Series>;
  using CountByLabels = std::map<std::string, std::uint64_t>;

  /// Where a result is counted.
  struct Place {
    Series* series{nullptr};
    std::uint64_t* failures{nullptr};  ///< nullptr: no failure.
  };

  Place& place_of(const Result& result);
  SeriesByLabels::iterator find_series(const Result& result);
  std::uint64_t& find_failures(const Result& result, const std::string& labels);
  void render_seconds(MetricsFormat format, std::string& out) const;
  void render_bytes(std::string_view name, std::uint64_t Series::*bytes, std::string& out) const;

  SeriesByLabels series_;
  CountByLabels failures_;
  /// The places of results seen before, by their raw texts: labels are made once and not for each result.
  /// Forgotten when it has grown large.
  std::unordered_map<std::string, Place> places_;
  std::size_t places_bytes_{0};
  std::string key_;
};

}  // namespace pepe
