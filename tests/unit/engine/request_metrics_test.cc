#include "engine/request_metrics.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace pepe {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::Not;

// The texts must outlive it.
Result hit(std::string_view url, std::uint16_t code, Nanos latency = milliseconds{1}, std::string_view error = "") {
  Result result;
  result.method = "GET";
  result.url = url;
  result.code = code;
  result.latency = latency;
  result.error = error;
  return result;
}

std::string page(const RequestMetrics& metrics, MetricsFormat format = MetricsFormat::kText) {
  std::string out;
  metrics.render(format, out);
  return out;
}

std::size_t count(std::string_view text, std::string_view what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

struct LabelCase {
  const char* name;
  std::string text;
  std::string label;
};
void PrintTo(const LabelCase& row, std::ostream* out) { *out << row.name; }
const auto kName = [](const auto& row) { return std::string{row.param.name}; };

class UrlLabel : public testing::TestWithParam<LabelCase> {};
TEST_P(UrlLabel, LeavesOutWhatIsSecretOrDiffers) { EXPECT_EQ(url_label(GetParam().text), GetParam().label); }
INSTANTIATE_TEST_SUITE_P(All, UrlLabel,
                         testing::Values(LabelCase{"Plain", "http://h:1/a", "http://h:1/a"},
                                         LabelCase{"Query", "http://h/a?token=hush", "http://h/a"},
                                         LabelCase{"QueryWithoutPath", "http://h?token=hush", "http://h"},
                                         LabelCase{"Fragment", "http://h/a#hush?x", "http://h/a"},
                                         LabelCase{"Credentials", "http://user:hush@h:1/a", "http://h:1/a"},
                                         LabelCase{"CredentialsWithAt", "http://us@er:hush@h/a", "http://h/a"},
                                         LabelCase{"CredentialsWithSlash", "http://user:hu/sh@h/a", "unusable"},
                                         LabelCase{"CredentialsWithoutScheme", "user:hush@h/a", "unusable"},
                                         LabelCase{"PathOnly", "/a?x", "/a"},
                                         LabelCase{"AtInThePath", "http://h/@me", "http://h/@me"},
                                         LabelCase{"Control", "http://h/\n\x01", "unusable"},
                                         LabelCase{"NoUtf8", "http://h/\xff", "http://h/\\xff"},
                                         LabelCase{"Empty", "", "unusable"}),
                         kName);

class MessageLabel : public testing::TestWithParam<LabelCase> {};
TEST_P(MessageLabel, IsTheCauseAlone) { EXPECT_EQ(message_label(GetParam().text), GetParam().label); }
INSTANTIATE_TEST_SUITE_P(
    All, MessageLabel,
    testing::Values(
        LabelCase{"Status", "404 Not Found", "404 Not Found"},
        LabelCase{"Refused",
                  R"(Get "http://h:1/?t=hush": dial tcp 0.0.0.0:0->127.0.0.1:1: connect: connection refused)",
                  "dial tcp 127.0.0.1:1: connect: connection refused"},
        LabelCase{"Stream", R"(Get "http://h/": stream error: stream ID 17; CANCEL; received from peer)",
                  "stream error: CANCEL; received from peer"},
        LabelCase{"StreamWithoutEnd", "stream ID 17", "stream ID 17"},
        LabelCase{"Reset", R"(Post "http://h/": read tcp [::1]:40312->[::1]:80: read: connection reset by peer)",
                  "read tcp [::1]:80: read: connection reset by peer"},
        LabelCase{"QuoteInTheUrl", R"(Get "http://h/\"a\": b": EOF)", "EOF"},
        LabelCase{"Location", R"(Get "/x?hush": failed to parse Location header "?hush": parse "?hush": bad)",
                  R"(failed to parse Location header "...": parse "...": bad)"},
        LabelCase{"OpenQuote", R"(bad "hush)", R"(bad ")"}, LabelCase{"ArrowFirst", "->b", "b"},
        LabelCase{"Empty", "", ""}),
    kName);

TEST(Labels, AreCutWhenTheyAreLong) {
  const std::string text(100'000, 'a');
  EXPECT_LT(url_label("http://h/" + text).size(), 300U);
  EXPECT_LT(message_label(text).size(), 300U);
}

struct AcceptCase {
  const char* name;
  std::string accept;
  MetricsFormat format;
};
void PrintTo(const AcceptCase& row, std::ostream* out) { *out << row.name; }

class Accept : public testing::TestWithParam<AcceptCase> {};
TEST_P(Accept, ChoosesTheFormat) { EXPECT_EQ(preferred_format(GetParam().accept), GetParam().format); }
INSTANTIATE_TEST_SUITE_P(
    All, Accept,
    testing::Values(AcceptCase{"Nothing", "", MetricsFormat::kText},
                    AcceptCase{"Anything", "*/*", MetricsFormat::kText},
                    AcceptCase{
                        "Prometheus",
                        "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
                        "text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
                        MetricsFormat::kOpenMetrics},
                    AcceptCase{"RatherText", "text/plain , application/openmetrics-text; q=0.5", MetricsFormat::kText},
                    AcceptCase{"Refused", "application/openmetrics-text;q=0", MetricsFormat::kText},
                    AcceptCase{"OddWeight", "application/openmetrics-text;q=;;q,,", MetricsFormat::kOpenMetrics}),
    kName);

TEST(RequestMetrics, CountsALatencyInEveryBucketThatHoldsIt) {
  RequestMetrics metrics;
  metrics.add(hit("http://h/", 200, milliseconds{5}));
  metrics.add(hit("http://h/", 200, milliseconds{5} + Nanos{1}));
  metrics.add(hit("http://h/", 200, std::chrono::seconds{11}));
  const std::string labels = R"({method="GET",status="200",url="http://h/")";
  const std::string text = page(metrics);
  for (const char* line :
       {R"(,le="0.005"} 1)", R"(,le="0.01"} 2)", R"(,le="1"} 2)", R"(,le="10"} 2)", R"(,le="+Inf"} 3)"})
    EXPECT_THAT(text, HasSubstr("request_seconds_bucket" + labels + line + "\n"));
  EXPECT_EQ(count(text, "request_seconds_bucket"), 12U);
  EXPECT_THAT(text, HasSubstr("request_seconds_sum" + labels + "} 11.010000001\n"));
  EXPECT_THAT(text, HasSubstr("request_seconds_count" + labels + "} 3\n"));
}

TEST(RequestMetrics, AddsBytesAndFailuresUp) {
  RequestMetrics metrics;
  Result result = hit("http://h/", 500, milliseconds{1}, "500 Internal Server Error");
  result.bytes_in = 7;
  result.bytes_out = 3;
  metrics.add(result);
  metrics.add(result);
  metrics.add(hit("http://h/", 200));
  const std::string text = page(metrics);
  EXPECT_THAT(text, HasSubstr("request_bytes_in{method=\"GET\",status=\"500\",url=\"http://h/\"} 14\n"));
  EXPECT_THAT(text, HasSubstr("request_bytes_out{method=\"GET\",status=\"500\",url=\"http://h/\"} 6\n"));
  EXPECT_THAT(text, HasSubstr("request_fail_count{message=\"500 Internal Server Error\",method=\"GET\",status=\"500\","
                              "url=\"http://h/\"} 2\n"));
  EXPECT_EQ(count(text, "request_fail_count{"), 1U) << "a success is no failure";
}

TEST(RequestMetrics, HasOneSeriesForAllQueries) {
  RequestMetrics metrics;
  for (int i = 0; i < 50; ++i) metrics.add(hit(fmt::format("http://u:{0}@h/a?n={0}", i), 200));
  EXPECT_THAT(page(metrics), HasSubstr("request_seconds_count{method=\"GET\",status=\"200\",url=\"http://h/a\"} 50\n"));
}

TEST(RequestMetrics, GathersUrlsBeyondTheLimitUnderOther) {
  RequestMetrics metrics;
  for (std::size_t i = 0; i < RequestMetrics::kMaxSeries + 500; ++i)
    metrics.add(hit(fmt::format("http://h/{}", i), 200));
  metrics.add(hit("http://h/7", 200));
  const std::string text = page(metrics);
  EXPECT_EQ(count(text, "request_seconds_count{"), RequestMetrics::kMaxSeries + 1);
  EXPECT_THAT(text, HasSubstr("request_seconds_count{method=\"GET\",status=\"200\",url=\"other\"} 500\n"));
  EXPECT_THAT(text, HasSubstr("request_seconds_count{method=\"GET\",status=\"200\",url=\"http://h/7\"} 2\n"));
}

TEST(RequestMetrics, StaysSmallWhateverTheMethods) {
  RequestMetrics metrics;
  for (int i = 0; i < 5000; ++i) {
    const std::string method = fmt::format("M{}", i);
    const std::string url = fmt::format("http://h/{}", i);
    Result result = hit(url, 200);
    result.method = method;
    metrics.add(result);
  }
  const std::string text = page(metrics);
  EXPECT_LE(count(text, "request_seconds_count{"), 1201U);
  EXPECT_THAT(text, HasSubstr("request_seconds_count{method=\"other\",status=\"other\",url=\"other\"} 3800\n"));
}

TEST(RequestMetrics, GathersMessagesBeyondTheLimitUnderOther) {
  RequestMetrics metrics;
  for (int i = 0; i < 1500; ++i) metrics.add(hit("http://h/", 404, milliseconds{1}, fmt::format("404 Nope {}", i)));
  const std::string text = page(metrics);
  EXPECT_EQ(count(text, "request_fail_count{"), RequestMetrics::kMaxSeries + 1);
  EXPECT_THAT(text,
              HasSubstr("request_fail_count{message=\"other\",method=\"GET\",status=\"404\",url=\"http://h/\"} 500\n"));
}

TEST(RequestMetrics, KeepsCountingWhenItForgetsRawTexts) {
  RequestMetrics metrics;
  const std::string padding(4000, 'x');
  for (int i = 0; i < 3000; ++i)
    metrics.add(hit("http://h/", 0, milliseconds{1}, fmt::format("Get \"{}{}\": EOF", padding, i)));
  EXPECT_THAT(page(metrics),
              HasSubstr("request_fail_count{message=\"EOF\",method=\"GET\",status=\"0\",url=\"http://h/\"} 3000\n"));
}

TEST(RequestMetrics, EscapesLabels) {
  RequestMetrics metrics;
  metrics.add(hit("http://h/\"}\\", 404, milliseconds{1}, "404 \"} 1\n"));
  EXPECT_THAT(page(metrics), HasSubstr(R"(url="http://h/\"}\\"} 1)"));
  EXPECT_EQ(count(page(metrics), "\n} 1"), 0U);
}

TEST(RequestMetrics, NamesEveryFamilyBeforeTheFirstHit) {
  for (const char* family : {"request_seconds histogram", "request_bytes_in counter", "request_bytes_out counter",
                             "request_fail_count counter"})
    EXPECT_THAT(page({}), HasSubstr(fmt::format("# TYPE {}\n", family)));
}

TEST(RequestMetrics, EndsOpenMetricsAsItsReadersAsk) {
  RequestMetrics metrics;
  metrics.add(hit("http://h/", 200));
  const std::string text = page(metrics, MetricsFormat::kOpenMetrics);
  EXPECT_TRUE(text.ends_with("\n# EOF\n"));
  EXPECT_THAT(text, HasSubstr("le=\"1.0\""));
  EXPECT_THAT(text, HasSubstr("# TYPE request_bytes_in unknown\n"));
  EXPECT_THAT(text, Not(HasSubstr("counter")));
  EXPECT_THAT(page(metrics), Not(HasSubstr("# EOF")));
}

}  // namespace
}  // namespace pepe
