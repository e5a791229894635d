#include "cli/thresholds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pepe {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

/// Ten results of 1 to 10 ms, a tenth of a second apart, of which the last failed.
Metrics sample() {
  Metrics metrics;
  for (int i = 0; i < 10; ++i) {
    Result result;
    result.seq = static_cast<std::uint64_t>(i);
    result.timestamp.unix_nanos = 1'700'000'000'000'000'000 + i * 100'000'000;
    result.latency = milliseconds{i + 1};
    result.code = i == 9 ? 500 : 200;
    if (i == 9) result.error = "500 Oops";
    metrics.add(result);
  }
  return metrics;
}

struct ThresholdCase {
  const char* text;
  const char* broken;  ///< Empty: it is not.
};

constexpr ThresholdCase kThresholdCases[] = {
    {"p50>5ms", "p50>5ms: p50 is 5.5ms"},
    {"p50>5.5ms", ""},
    {"p50>=5.5ms", "p50>=5.5ms: p50 is 5.5ms"},
    {"p99.9>1s", ""},
    {"p100>9ms", "p100>9ms: p100 is 10ms"},
    {"max > 9ms", "max > 9ms: max is 10ms"},
    {"min<2ms", "min<2ms: min is 1ms"},
    {"mean<=5.5ms", "mean<=5.5ms: mean is 5.5ms"},
    {"success<95%", "success<95%: success is 90%"},
    {"success<0.9", ""},
    {"success<=0.9", "success<=0.9: success is 90%"},
    {"errors>0", "errors>0: errors is 1"},
    {"requests<11", "requests<11: requests is 10"},
    {"rate<20", "rate<20: rate is 11.11111111"},
    {"throughput>100", ""},
};

TEST(Threshold, IsBrokenByTheFigureThatItNames) {
  const Metrics metrics = sample();
  for (const ThresholdCase& row : kThresholdCases) {
    SCOPED_TRACE(row.text);
    const auto threshold = Threshold::parse(row.text);
    ASSERT_TRUE(threshold);
    EXPECT_EQ(threshold->broken_by(metrics).value_or(""), row.broken);
  }
}

TEST(Threshold, IsBrokenWhereThereIsNothingToJudge) {
  const auto threshold = Threshold::parse("p99>1s");
  ASSERT_TRUE(threshold);
  EXPECT_EQ(threshold->broken_by(Metrics{}), "p99>1s: there are no results");
}

struct FaultCase {
  const char* text;
  const char* error;
};

constexpr FaultCase kFaultCases[] = {
    {"", "want FIGURE>VALUE"},
    {"p99", "want FIGURE>VALUE"},
    {"p99=1s", "want FIGURE>VALUE"},
    {"p101>1s", "\"p101\" is none of"},
    {"p>1s", "\"p\" is none of"},
    {"p-1>1s", "\"p-1\" is none of"},
    {"latency>1s", "is none of"},
    {"p99>300", "missing unit"},
    {"p99>", "invalid duration"},
    {"success<99", "is over 1, or 100%"},
    {"success<101%", "is over 1, or 100%"},
    {"success<x%", "is no number"},
    {"errors>-1", "is no number"},
    {"errors>5%", "is no number"},
    {"rate<nan", "is no number"},
    {"success<%", "\"%\" is no number"},
};

TEST(Threshold, SaysWhatItExpected) {
  for (const FaultCase& row : kFaultCases) {
    SCOPED_TRACE(row.text);
    const auto threshold = Threshold::parse(row.text);
    ASSERT_FALSE(threshold);
    EXPECT_THAT(threshold.error().text(), HasSubstr(row.error));
  }
}

}  // namespace
}  // namespace pepe
