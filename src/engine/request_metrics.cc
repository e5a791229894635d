#include "engine/request_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "pepe/base/text.h"
#include "pepe/target/url.h"

namespace pepe {
namespace {

using std::chrono::milliseconds;

struct Bound {
  Nanos most;
  std::string_view text;
  std::string_view open_metrics;  // Where every number of this label has a point.
};
constexpr std::array<Bound, 11> kBounds = {{{milliseconds{5}, "0.005", "0.005"},
                                            {milliseconds{10}, "0.01", "0.01"},
                                            {milliseconds{25}, "0.025", "0.025"},
                                            {milliseconds{50}, "0.05", "0.05"},
                                            {milliseconds{100}, "0.1", "0.1"},
                                            {milliseconds{250}, "0.25", "0.25"},
                                            {milliseconds{500}, "0.5", "0.5"},
                                            {milliseconds{1000}, "1", "1.0"},
                                            {milliseconds{2500}, "2.5", "2.5"},
                                            {milliseconds{5000}, "5", "5.0"},
                                            {milliseconds{10000}, "10", "10.0"}}};

constexpr std::size_t kMaxMethod = 40;
constexpr std::size_t kMaxUrl = 200;
constexpr std::size_t kMaxMessage = 200;
// How many label sets url="other" may have, of methods and statuses.
constexpr std::size_t kMaxOther = 200;
constexpr std::size_t kMaxPlacesBytes = 4 * 1024 * 1024;
// What an entry of the table costs beside its key.
constexpr std::size_t kPlaceBytes = 96;
constexpr std::string_view kOther = "other";

std::string_view without_query(std::string_view url) { return url.substr(0, url.find_first_of("?#")); }

// What follows a `Word "QUOTED": `, or `text` itself when it does not begin so.
std::string_view without_quoted_prefix(std::string_view text) {
  const std::size_t open = text.find('"');
  if (open == std::string_view::npos || open < 2 || text[open - 1] != ' ') return text;
  if (text.substr(0, open - 1).find(' ') != std::string_view::npos) return text;
  for (std::size_t i = open + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      return text.substr(i + 1).starts_with(": ") ? text.substr(i + 3) : text;
    }
  }
  return text;
}

// `text` with "..." in place of everything quoted.
std::string without_quotations(std::string_view text) {
  std::string out;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') {
      out += quoted ? "...\"" : "\"";
      quoted = !quoted;
    } else if (quoted && text[i] == '\\') {
      ++i;
    } else if (!quoted) {
      out += text[i];
    }
  }
  return out;
}

// `A:P->B:P` becomes `B:P`: the port at this end is another one for each connection.
void drop_local_ends(std::string& text) {
  for (std::size_t arrow = text.find("->"); arrow != std::string::npos; arrow = text.find("->")) {
    const std::size_t blank = text.rfind(' ', arrow);
    const std::size_t from = blank == std::string::npos ? 0 : blank + 1;
    text.erase(from, arrow + 2 - from);
  }
}

// `stream error: stream ID 7; CANCEL` becomes `stream error: CANCEL`: the number is another one for each hit.
void drop_stream(std::string& text) {
  const std::size_t at = text.find("stream ID ");
  if (at == std::string::npos) return;
  const std::size_t end = text.find("; ", at);
  if (end != std::string::npos) text.erase(at, end + 2 - at);
}

void append_label(std::string_view name, std::string_view value, std::string& out) {
  if (!out.empty()) out += ',';
  out.append(name).append("=\"");
  for (const char c : value) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  out += '"';
}

// In the order of their names, as Prometheus' own clients print them.
std::string series_labels(std::string_view method, std::string_view status, std::string_view url) {
  std::string labels;
  append_label("method", method, labels);
  append_label("status", status, labels);
  append_label("url", url, labels);
  return labels;
}

template <class Value>
void append_sample(std::string_view name, std::string_view labels, Value value, std::string& out) {
  fmt::format_to(std::back_inserter(out), "{}{{{}}} {}\n", name, labels, value);
}

void append_family(std::string_view name, std::string_view type, std::string_view help, std::string& out) {
  fmt::format_to(std::back_inserter(out), "# HELP {0} {1}\n# TYPE {0} {2}\n", name, help, type);
}

// OpenMetrics wants the names of counters to end in _total; as unknowns the families have one name in both
// formats.
std::string_view counter_type(MetricsFormat format) {
  return format == MetricsFormat::kOpenMetrics ? "unknown" : "counter";
}

// The weight of one element of an Accept header, and its media type in `type`.
double accept_weight(std::string_view element, std::string_view& type) {
  double weight = 1;
  type = trim(element.substr(0, element.find(';')));
  for (std::size_t semicolon = element.find(';'); semicolon != std::string_view::npos;
       semicolon = element.find(';', semicolon + 1)) {
    const std::string_view rest = element.substr(semicolon + 1);
    const std::string_view parameter = trim(rest.substr(0, rest.find(';')));
    if (parameter.starts_with("q=") || parameter.starts_with("Q="))
      weight = parse_decimal(parameter.substr(2)).value_or(weight);
  }
  return weight;
}

}  // namespace

MetricsFormat preferred_format(std::string_view accept) {
  double open_metrics = 0;
  double text = 0;
  while (!accept.empty()) {
    const std::size_t comma = std::min(accept.find(','), accept.size());
    std::string_view type;
    const double weight = accept_weight(accept.substr(0, comma), type);
    if (type == "application/openmetrics-text") open_metrics = std::max(open_metrics, weight);
    if (type == "text/plain") text = std::max(text, weight);
    accept.remove_prefix(std::min(comma + 1, accept.size()));
  }
  return open_metrics > 0 && open_metrics >= text ? MetricsFormat::kOpenMetrics : MetricsFormat::kText;
}

std::string_view content_type(MetricsFormat format) noexcept {
  return format == MetricsFormat::kOpenMetrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                                               : "text/plain; version=0.0.4; charset=utf-8";
}

std::string url_label(std::string_view url) {
  // Where the credentials end in what is no URL, nobody can say.
  const auto parsed = parse_request_uri(url);
  const bool opaque = url.find("//") == std::string_view::npos && !url.starts_with('/');
  if (!parsed || opaque) return "unusable";
  std::string label{without_query(url)};
  if (parsed->has_userinfo) {
    const std::size_t authority = label.find("//") + 2;
    const std::size_t at = std::string_view{label}.substr(0, label.find('/', authority)).rfind('@');
    if (at != std::string_view::npos && at >= authority) label.erase(authority, at + 1 - authority);
  }
  return printable(label, kMaxUrl);
}

std::string message_label(std::string_view error) {
  std::string label = without_quotations(without_quoted_prefix(error));
  drop_local_ends(label);
  drop_stream(label);
  return printable(label, kMaxMessage);
}

void RequestMetrics::add(const Result& result) {
  const Place place = place_of(result);
  Series& series = *place.series;
  const auto bound =
      std::find_if(kBounds.begin(), kBounds.end(), [&](const Bound& b) { return result.latency <= b.most; });
  ++series.hits[static_cast<std::size_t>(bound - kBounds.begin())];
  series.latency += result.latency;
  series.bytes_in += result.bytes_in;
  series.bytes_out += result.bytes_out;
  if (place.failures != nullptr) ++*place.failures;
}

RequestMetrics::Place& RequestMetrics::place_of(const Result& result) {
  key_.assign(result.method).push_back('\0');
  key_.append(without_query(result.url)).push_back('\0');
  key_.append(result.error).push_back('\0');
  key_.push_back(static_cast<char>(result.code >> 8));
  key_.push_back(static_cast<char>(result.code & 0xFF));
  if (const auto known = places_.find(key_); known != places_.end()) return known->second;

  if (places_bytes_ > kMaxPlacesBytes) {
    places_.clear();
    places_bytes_ = 0;
  }
  places_bytes_ += key_.size() + kPlaceBytes;
  const auto series = find_series(result);
  Place place{.series = &series->second};
  if (!result.error.empty()) place.failures = &find_failures(result, series->first);
  return places_.emplace(key_, place).first->second;
}

RequestMetrics::SeriesByLabels::iterator RequestMetrics::find_series(const Result& result) {
  const std::string method = printable(result.method, kMaxMethod);
  const std::string status = std::to_string(result.code);
  const std::pair<std::string, std::size_t> choices[] = {
      {series_labels(method, status, url_label(result.url)), kMaxSeries},
      {series_labels(method, status, kOther), kMaxSeries + kMaxOther},
  };
  for (const auto& [labels, limit] : choices) {
    if (const auto found = series_.find(labels); found != series_.end()) return found;
    if (series_.size() < limit) return series_.try_emplace(labels).first;
  }
  return series_.try_emplace(series_labels(kOther, kOther, kOther)).first;
}

std::uint64_t& RequestMetrics::find_failures(const Result& result, const std::string& labels) {
  const auto with_message = [&labels](std::string_view message) {
    std::string all;
    append_label("message", message, all);
    return all + ',' + labels;
  };
  const std::string usual = with_message(message_label(result.error));
  const bool room = failures_.contains(usual) || failures_.size() < kMaxSeries;
  return failures_[room ? usual : with_message(kOther)];
}

void RequestMetrics::render(MetricsFormat format, std::string& out) const {
  append_family("request_bytes_in", counter_type(format), "Bytes of response bodies, as far as they were kept.", out);
  render_bytes("request_bytes_in", &Series::bytes_in, out);
  append_family("request_bytes_out", counter_type(format), "Bytes of request bodies.", out);
  render_bytes("request_bytes_out", &Series::bytes_out, out);
  append_family("request_fail_count", counter_type(format), "Failed hits: no whole answer, or no status of success.",
                out);
  for (const auto& [labels, failures] : failures_) append_sample("request_fail_count", labels, failures, out);
  append_family("request_seconds", "histogram", "From the start of a hit to its end or failure.", out);
  render_seconds(format, out);
  if (format == MetricsFormat::kOpenMetrics) out += "# EOF\n";
}

void RequestMetrics::render_bytes(std::string_view name, std::uint64_t Series::*bytes, std::string& out) const {
  for (const auto& [labels, series] : series_) append_sample(name, labels, series.*bytes, out);
}

void RequestMetrics::render_seconds(MetricsFormat format, std::string& out) const {
  std::string bucket;
  for (const auto& [labels, series] : series_) {
    std::uint64_t hits = 0;
    for (std::size_t i = 0; i < kBuckets; ++i) {
      hits += series.hits[i];
      bucket = labels;
      const bool last = i == kBounds.size();
      append_label("le",
                   last                             ? "+Inf"
                   : format == MetricsFormat::kText ? kBounds[i].text
                                                    : kBounds[i].open_metrics,
                   bucket);
      append_sample("request_seconds_bucket", bucket, hits, out);
    }
    append_sample("request_seconds_sum", labels, static_cast<double>(series.latency.count()) / 1e9, out);
    append_sample("request_seconds_count", labels, hits, out);
  }
}

}  // namespace pepe
