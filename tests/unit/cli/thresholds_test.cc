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

/// As sample(), but with `milliseconds_more` on each latency and `failures` in place of one.
Metrics changed_sample(int milliseconds_more, int failures) {
  Metrics metrics;
  for (int i = 0; i < 10; ++i) {
    Result result;
    result.timestamp.unix_nanos = 1'700'000'000'000'000'000 + i * 100'000'000;
    result.latency = milliseconds{i + 1 + milliseconds_more};
    result.code = i < failures ? 500 : 200;
    if (i < failures) result.error = "500 Oops";
    metrics.add(result);
  }
  return metrics;
}

struct ChangeCase {
  const char* text;
  int milliseconds_more;
  int failures;
  const char* broken;  ///< Empty: it is not.
};

constexpr ChangeCase kChangeCases[] = {
    {"max>+5%", 1, 1, "max>+5%: max went from 10ms to 11ms, by +10.00%"},
    {"max>+10%", 1, 1, ""},
    {"max>=+10%", 1, 1, "max>=+10%: max went from 10ms to 11ms, by +10.00%"},
    {"p50 > +0%", 0, 1, ""},
    {"p50<-5%", 0, 1, ""},
    {"min<-50%", -1, 1, "min<-50%: min went from 1ms to 0s, by -100.00%"},
    {"success<-1%", 0, 4, "success<-1%: success went from 90% to 60%, by -33.33%"},
    {"success<+1%", 0, 0, ""},
    {"errors>+200%", 0, 4, "errors>+200%: errors went from 1 to 4, by +300.00%"},
    {"errors>+5%", 0, 0, ""},
    {"rate<-1%", 0, 1, ""},
    {"p99>10ms", 1, 1, "p99>10ms: p99 is 11ms"},
};

TEST(Threshold, OfAChangeIsBrokenByTheShareOfTheBase) {
  const Metrics base = sample();
  for (const ChangeCase& row : kChangeCases) {
    SCOPED_TRACE(row.text);
    const auto threshold = Threshold::parse(row.text);
    ASSERT_TRUE(threshold);
    EXPECT_EQ(threshold->needs_base(), std::string_view{row.text}.find('%') != std::string_view::npos);
    EXPECT_EQ(threshold->broken_by(changed_sample(row.milliseconds_more, row.failures), &base).value_or(""),
              row.broken);
  }
}

TEST(Threshold, OfAChangeIsBrokenByWhatWasNotThereBefore) {
  const Metrics base = changed_sample(0, 0);
  const auto threshold = Threshold::parse("errors>+1000%");
  ASSERT_TRUE(threshold);
  EXPECT_EQ(threshold->broken_by(changed_sample(0, 1), &base), "errors>+1000%: errors went from 0 to 1");
  EXPECT_EQ(threshold->broken_by(changed_sample(0, 0), &base), std::nullopt);
  const Metrics nothing;
  EXPECT_EQ(threshold->broken_by(base, &nothing), "errors>+1000%: there are no results in the base");
  EXPECT_EQ(threshold->broken_by(nothing, &base), "errors>+1000%: there are no results");
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
    {"p99>+%", "\"+%\" is no change"},
    {"p99>+-5%", "\"+-5%\" is no change"},
    {"p99>5%", "unknown unit"},
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
