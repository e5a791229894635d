#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <rapidjson/reader.h>

#include "fuzz/input.h"
#include "pepe/base/check.h"
#include "pepe/plot/plot.h"
#include "pepe/report/reporter.h"
#include "support/random_result.h"

namespace {

constexpr std::size_t kMostResults = 64;

std::vector<pepe::RandomResult> read_results(pepe::fuzz::Input& input) {
  std::vector<pepe::RandomResult> results;
  while (!input.empty() && results.size() < kMostResults) {
    pepe::RandomResult& result = results.emplace_back();
    const std::uint8_t what = input.byte();
    result.seq = results.size() - 1;
    result.code = (what & 1) != 0 ? input.number<std::uint16_t>() : std::uint16_t{200};
    result.latency = pepe::Nanos{(what & 2) != 0 ? input.number<std::int64_t>() : input.byte()};
    result.timestamp.unix_nanos = (what & 4) != 0 ? input.number<std::int64_t>() : input.byte() * 1'000'000;
    if ((what & 8) != 0) result.bytes_in = result.bytes_out = input.number<std::uint64_t>();
    if ((what & 16) != 0) result.error = input.text(input.byte());
    if ((what & 32) != 0) result.attack = input.text(input.byte() % 32);
    if ((what & 64) != 0) result.timestamp.zone_minutes = static_cast<std::int16_t>(input.byte());
    if ((what & 128) != 0) result.seq = input.number<std::uint64_t>();
  }
  return results;
}

template <class Counts>
std::uint64_t total(const Counts& counts) {
  std::uint64_t sum = 0;
  for (const auto& count : counts) sum += count.second;
  return sum;
}

// Whatever the results are, each of them is counted once in every table.
void check_sums(const std::vector<pepe::RandomResult>& results, const pepe::Metrics& metrics) {
  const pepe::MetricsSummary summary = metrics.summary();
  const auto count = [&results](auto holds) {
    return static_cast<std::uint64_t>(std::count_if(results.begin(), results.end(), holds));
  };
  PEPE_CHECK(summary.requests == results.size() && total(summary.status_codes) == results.size());
  PEPE_CHECK(summary.successes == count([](const auto& one) { return one.code >= 200 && one.code < 400; }));
  const std::uint64_t errors = count([](const auto& one) { return !one.error.empty(); });
  PEPE_CHECK(total(summary.errors) + summary.errors_left_out == errors);
  std::uint64_t of_kinds = summary.errors_left_out;
  for (const pepe::ErrorKind& kind : summary.error_kinds) of_kinds += kind.count;
  PEPE_CHECK(of_kinds == errors);
  std::uint64_t in_buckets = 0;
  for (const std::uint64_t bucket : metrics.bucket_counts()) in_buckets += bucket;
  PEPE_CHECK(in_buckets == results.size());
}

void check_quantiles(const std::vector<pepe::RandomResult>& results, const pepe::Metrics& metrics) {
  const auto [least, most] = std::minmax_element(results.begin(), results.end(),
                                                 [](const auto& a, const auto& b) { return a.latency < b.latency; });
  pepe::Nanos last = pepe::Nanos::min();
  for (const double q : {0.0, 0.25, 0.5, 0.9, 0.99, 1.0}) {
    const pepe::Nanos quantile = metrics.quantile(q);
    PEPE_CHECK(quantile >= last && quantile >= least->latency && quantile <= most->latency);
    last = quantile;
  }
}

// No report holds what would drive a terminal, and the JSON is JSON.
void check_text(const std::string& out, bool json) {
  for (const char c : out)
    PEPE_CHECK((static_cast<unsigned char>(c) >= ' ' && (json || c != '\x7F')) || c == '\n' || c == '\t');
  if (!json) return;
  rapidjson::Reader reader;
  rapidjson::MemoryStream stream{out.data(), out.size()};
  rapidjson::BaseReaderHandler<> handler;
  PEPE_CHECK(reader.Parse<rapidjson::kParseValidateEncodingFlag>(stream, handler));
}

void check_report(const pepe::ReporterEntry& reporter, const pepe::Metrics& metrics, const pepe::ReportStyle& style) {
  std::string out;
  reporter.write(metrics, style, out);
  check_text(out, reporter.name == "json");
}

// The results of an even number against the others.
void check_comparison(const pepe::ComparerEntry& comparer, std::vector<pepe::RandomResult>& results,
                      const pepe::ReportStyle& style) {
  pepe::Metrics sides[] = {pepe::Metrics{{}, {.exact_latencies = 4, .error_bytes = 1024}}, pepe::Metrics{}};
  for (std::size_t i = 0; i < results.size(); ++i) sides[i % 2].add(results[i].view());
  std::string out;
  comparer.write(sides[0], sides[1], style, out);
  check_text(out, comparer.name == "compare-json");
}

// What is taken for a list of percentiles reads back as the same from its labels.
void check_quantile_list(std::string_view text) {
  const auto quantiles = pepe::parse_quantiles(text);
  if (!quantiles) return;
  std::string labels;
  for (const pepe::ReportQuantile& quantile : *quantiles) {
    PEPE_CHECK(quantile.q >= 0 && quantile.q <= 1);
    labels.append(labels.empty() ? "" : ",").append(quantile.percent);
  }
  const auto again = pepe::parse_quantiles(labels);
  PEPE_CHECK(again && *again == *quantiles);
}

pepe::ReportStyle draw_style(std::uint64_t dice) {
  pepe::ReportStyle style;
  if (dice / 16 % 4 == 0) style.latency_from = pepe::LatencyFrom::kSchedule;
  if (dice / 4 % 4 == 0) style.quantiles = *pepe::parse_quantiles("99.99,0,100,12.5");
  return style;
}

// No text from the results ends the script that it stands in.
void check_plot(std::vector<pepe::RandomResult>& results) {
  pepe::Plot plot{{.title = results.front().error, .threshold = 10}};
  for (pepe::RandomResult& result : results) plot.add(result.view());
  std::string page;
  PEPE_CHECK(plot.write(page).has_value());
  constexpr std::string_view kBegin = "<script>\nconst plot = {";
  const std::size_t begin = page.find(kBegin);
  PEPE_CHECK(begin != std::string::npos);
  const std::size_t end = page.find("\n};\n</script>\n", begin);
  PEPE_CHECK(end != std::string::npos);
  PEPE_CHECK(page.find('<', begin + kBegin.size()) == end + std::string_view{"\n};\n"}.size());
  PEPE_CHECK(page.find("<script", 0) > page.find("<h1 id=\"title\">"));
}

}  // namespace

/// Results of any figures and texts: the totals of a report add up, its quantiles lie in order among the latencies, and
/// what a server said ends neither a line, nor a string, nor a script.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pepe::fuzz::Input input{data, size};
  std::vector<pepe::RandomResult> results = read_results(input);
  if (results.empty()) return 0;
  using std::chrono::milliseconds;
  pepe::Metrics metrics{{pepe::Nanos{0}, milliseconds{1}, milliseconds{10}}};
  for (pepe::RandomResult& result : results) metrics.add(result.view());
  check_sums(results, metrics);
  check_quantiles(results, metrics);
  // One of them each time, the page least often: it takes longer than all reports together.
  const std::uint64_t dice = pepe::fuzz::dice(std::string_view{reinterpret_cast<const char*>(data), size});
  const auto reporters = pepe::reporters();
  check_report(reporters[dice % reporters.size()], metrics, draw_style(dice));
  const auto comparers = pepe::comparers();
  check_comparison(comparers[dice / 8 % comparers.size()], results, draw_style(dice));
  for (const pepe::RandomResult& result : results) check_quantile_list(result.error);
  if (dice / 64 % 64 == 0) check_plot(results);
  return 0;
}
