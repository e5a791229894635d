#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "pepe/report/reporter.h"
#include "support/golden.h"

namespace pepe {
namespace {

struct Row {
  const char* timestamp;
  std::int64_t latency;
  std::uint16_t code;
  std::uint64_t bytes_in;
  std::uint64_t bytes_out;
  const char* error;
};

// Odd in every way that a report can show. vegeta 12.13 printed the goldens of it, but for the names of the files.
constexpr Row kMixed[] = {
    {"2023-12-31T23:59:59.999999999Z", 1234567, 200, 11, 3, ""},
    {"2023-12-31T23:59:59.000000001Z", 999999, 200, 256, 0, ""},
    {"2024-01-01T02:00:00+02:00", 59999999999, 503, 0, 0, "503 Too, \"busy\""},
    {"2023-12-31T18:30:00.1-05:30", 60000000000, 0, 0, 0, "Post \"http://h/?q=<x>&y\": dial tcp: <bang> & boom"},
    {"2020-02-29T00:00:00.0000005Z", 3600000000000, 0, 0, 0, "失敗: zürich"},
    {"2023-12-31T23:59:59.999999Z", 1, 299, 8, 0, ""},
    {"2000-02-29T12:34:56.123456789Z", 0, 399, 0, 9223372036854775807, ""},
    {"2024-02-29T23:59:59.5Z", 2500000, 100, 0, 0, "100 Continue"},
    {"2024-02-29T00:00:00.000001Z", 7777, 535, 0, 0, "line one\nline two"},
    {"2023-12-31T23:59:59.999999001Z", 12345678901, 200, 700, 0, ""},
};

// What vegeta prints differently or not at all: columns in error texts, texts that differ in their port, escapes.
constexpr Row kErrors[] = {
    {"2024-01-01T00:00:00Z", 1000, 0, 0, 0, "read tcp 127.0.0.1:40001->127.0.0.1:80: read: connection reset by peer"},
    {"2024-01-01T00:00:01Z", 2000, 0, 0, 0, "a\tb\tc"},
    {"2024-01-01T00:00:02Z", 3000, 0, 0, 0, "read tcp 127.0.0.1:40002->127.0.0.1:80: read: connection reset by peer"},
    {"2024-01-01T00:00:03Z", 4000, 0, 0, 0, "longer\tü\tc"},
    {"2024-01-01T00:00:04Z", 5000, 0, 0, 0, "read tcp 127.0.0.1:40003->127.0.0.1:81: read: connection reset by peer"},
    {"2024-01-01T00:00:05Z", 6000, 500, 0, 0, "500 caf\xe9 \x1b[2J\r"},
};

Result to_result(const Row& row) {
  Result result;
  result.timestamp = *parse_rfc3339(row.timestamp);
  result.latency = Nanos{row.latency};
  result.code = row.code;
  result.bytes_in = row.bytes_in;
  result.bytes_out = row.bytes_out;
  result.error = row.error;
  return result;
}

template <std::size_t kCount>
std::string report(std::string_view type, const Row (&rows)[kCount], const std::vector<RunFacts>& runs = {},
                   const ReportStyle& style = {}) {
  const Expected<ReportPlan> plan = plan_report(type, "");
  Metrics metrics{plan->bounds};
  for (const Row& row : rows) metrics.add(to_result(row));
  for (const RunFacts& run : runs) metrics.add(run);
  std::string out;
  plan->reporter->write(metrics, style, out);
  return out;
}

TEST(ReportGoldens, AreVegetasForItsOwnResults) {
  expect_golden("report_mixed.text", report("text", kMixed));
  expect_golden("report_mixed.json", report("json", kMixed));
  expect_golden("report_mixed.hist", report("hist[0,1ms,1.2ms,5ms,1s,1m]", kMixed));
  expect_golden("report_mixed.hdrplot", report("hdrplot", kMixed));
}

TEST(ReportGoldens, ShowTheQuantilesThatAreAskedFor) {
  const ReportStyle style{.latency_from = {}, .quantiles = *parse_quantiles("99.9,50,0,100,12.5")};
  expect_golden("report_quantiles.text", report("text", kMixed, {}, style));
  expect_golden("report_quantiles.json", report("json", kMixed, {}, style));
}

TEST(ReportGoldens, SayThatLatenciesCountFromTheSchedule) {
  const ReportStyle style{.latency_from = LatencyFrom::kSchedule};
  expect_golden("report_schedule.text", report("text", kErrors, {}, style));
  expect_golden("report_schedule.json", report("json", kErrors, {}, style));
}

// Latencies as a server has them: most close together, a few far out; every `fails`th hit fails.
Metrics some_run(std::int64_t count, std::int64_t nanos, std::int64_t fails) {
  Metrics metrics;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t scattered = i * 7919 % 1000;
    Result result;
    result.timestamp.unix_nanos = 1'700'000'000'000'000'000 + i * 2'000'000;
    result.latency = Nanos{nanos + nanos * scattered / (1010 - scattered)};
    result.code = i % fails == 0 ? 503 : 200;
    result.bytes_in = i % fails == 0 ? 0 : 512;
    if (i % fails == 0) result.error = "503 Service Unavailable";
    metrics.add(result);
  }
  return metrics;
}

template <std::size_t kCount>
Metrics run_of(const Row (&rows)[kCount]) {
  Metrics metrics;
  for (const Row& row : rows) metrics.add(to_result(row));
  return metrics;
}

void expect_comparison(const std::string& name, const Metrics& base, const Metrics& changed,
                       const ReportStyle& style = {}) {
  for (const ComparerEntry& comparer : comparers()) {
    std::string out;
    comparer.write(base, changed, style, out);
    expect_golden(name + (comparer.name == "compare" ? ".text" : ".json"), out);
  }
}

TEST(ComparisonGoldens, ShowTheChangeAndHowSureItIs) {
  expect_comparison("compare_runs", some_run(3000, 200'000, 500), some_run(2500, 215'000, 100));
}

TEST(ComparisonGoldens, ShowWhatTheyAreAskedFor) {
  expect_comparison("compare_style", some_run(500, 200'000, 500), some_run(500, 200'000, 500),
                    {.latency_from = LatencyFrom::kSchedule, .quantiles = *parse_quantiles("25,99.9,100")});
}

TEST(ComparisonGoldens, TakeResultsOfAnyKind) { expect_comparison("compare_odd", run_of(kMixed), run_of(kErrors)); }

TEST(ComparisonGoldens, TakeASideWithoutResults) {
  expect_comparison("compare_nothing", some_run(1000, 200'000, 10), Metrics{});
}

TEST(ReportGoldens, ShowErrorsThatVegetaDoesNotGroupOrEscape) {
  expect_golden("report_errors.text", report("text", kErrors));
  expect_golden("report_errors.json", report("json", kErrors));
}

TEST(ReportGoldens, AddTheGeneratorForNativeStreams) {
  RunFacts run;
  run.run_id = 1;
  run.complete = true;
  run.rate = {50, std::chrono::seconds{1}};
  run.sent = 40;
  run.missed = 10;
  run.late = 3;
  run.worst_lag = Nanos{12'345'678};
  run.limited = true;
  run.limit = "a thread was 97 % busy";
  run.threads = {{0.5, 0.97}, {0.25, 0.3}};
  expect_golden("report_generator.json", report("json", kErrors, {run}));
}

}  // namespace
}  // namespace pepe
