#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "pepe/report/reporter.h"

namespace pepe {
namespace {

constexpr std::int64_t kMilli = 1'000'000;

struct PlanCase {
  const char* name;
  const char* type;
  const char* buckets;
  const char* reporter;
  std::vector<std::int64_t> bounds;
};

const PlanCase kPlans[] = {
    {"Text", "text", "", "text", {}},
    {"TextDoesNotLookAtBuckets", "text", "nonsense", "text", {}},
    {"Json", "json", "", "json", {}},
    {"JsonWithBuckets", "json", "[1ms,2ms]", "json", {0, kMilli, 2 * kMilli}},
    {"Hdrplot", "hdrplot", "nonsense", "hdrplot", {}},
    {"Hist", "hist[0,1ms]", "", "hist", {0, kMilli}},
    {"HistWithBlanks", "hist[ 0, 1ms ]", "", "hist", {0, kMilli}},
    {"HistWithFlag", "hist", "[0,1ms]", "hist", {0, kMilli}},
    {"TheFlagWins", "hist[0,9s]", "[0,1ms]", "hist", {0, kMilli}},
    {"ZeroIsPutInFront", "hist[5ms]", "", "hist", {0, 5 * kMilli}},
    {"NegativeBounds", "hist[-1ms,0]", "", "hist", {-kMilli, 0}},
    {"ZeroFirstInAnyOrder", "hist[0,2ms,1ms]", "", "hist", {0, 2 * kMilli, kMilli}},
};

TEST(ReportPlan, FollowsTypeAndBuckets) {
  for (const PlanCase& row : kPlans) {
    SCOPED_TRACE(row.name);
    const Expected<ReportPlan> plan = plan_report(row.type, row.buckets);
    ASSERT_TRUE(plan) << plan.error().text();
    EXPECT_EQ(plan->reporter->name, row.reporter);
    EXPECT_EQ(plan->bounds, std::vector<Nanos>(row.bounds.begin(), row.bounds.end()));
  }
}

struct FaultCase {
  const char* name;
  const char* type;
  const char* buckets;
  const char* text;
};

constexpr FaultCase kFaults[] = {
    {"Short", "abc", "", "invalid report type: abc: want text, json, hist, hdrplot, compare, compare-json"},
    {"Empty", "", "", "invalid report type: : want text, json, hist, hdrplot, compare, compare-json"},
    {"Unknown", "bogus", "", "unknown report type: \"bogus\": want text, json, hist, hdrplot, compare, compare-json"},
    {"NearlyOneThatCompares", "compare[json]", "",
     "unknown report type: \"compare[json]\": want text, json, hist, hdrplot, compare, compare-json"},
    {"Escaped", "bog\x1bs", "",
     "unknown report type: \"bog\\x1bs\": want text, json, hist, hdrplot, compare, compare-json"},
    {"Plot", "plot", "", "report makes no plots: use the plot command"},
    {"NoBuckets", "hist", "", "bad buckets: : want durations in brackets, such as [0,1ms,10ms]"},
    {"Unclosed", "hist[0,1ms", "", "bad buckets: [0,1ms: want durations in brackets, such as [0,1ms,10ms]"},
    {"NoItems", "hist[]", "", "bad buckets: []: time: invalid duration \"\""},
    {"TrailingComma", "hist[0,1ms,]", "", "bad buckets: [0,1ms,]: time: invalid duration \"\""},
    {"NoUnit", "hist[0,1]", "", "bad buckets: [0,1]: time: missing unit in duration \"1\""},
    {"Descending", "hist[10ms,1ms]", "", "bad buckets: [10ms,1ms]: want ascending durations"},
    {"JsonWithBadBuckets", "json", "foo", "bad buckets: foo: want durations in brackets, such as [0,1ms,10ms]"},
};

TEST(ReportPlan, SaysWhatIsWrong) {
  for (const FaultCase& row : kFaults) {
    SCOPED_TRACE(row.name);
    const Expected<ReportPlan> plan = plan_report(row.type, row.buckets);
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().text(), row.text);
  }
}

TEST(ReportPlan, NamesOneThatComparesOrOneThatDoesNot) {
  for (const ComparerEntry& entry : comparers()) {
    const Expected<ReportPlan> plan = plan_report(entry.name, "nonsense");
    ASSERT_TRUE(plan) << entry.name;
    EXPECT_EQ(plan->comparer, &entry);
    EXPECT_EQ(plan->reporter, nullptr);
  }
  EXPECT_EQ(plan_report("text", "")->comparer, nullptr);
}

TEST(Comparers, WriteSomethingWithoutResults) {
  for (const ComparerEntry& entry : comparers()) {
    SCOPED_TRACE(entry.name);
    std::string out;
    entry.write(Metrics{}, Metrics{}, {}, out);
    EXPECT_TRUE(out.ends_with('\n'));
    EXPECT_EQ(out.find("nan"), std::string::npos);
    EXPECT_EQ(out.find("inf"), std::string::npos);
  }
}

TEST(Reporters, WriteSomethingWithoutResults) {
  std::set<std::string_view> names;
  for (const ReporterEntry& entry : reporters()) {
    SCOPED_TRACE(entry.name);
    EXPECT_TRUE(names.insert(entry.name).second);
    std::string out;
    entry.write(Metrics{}, {}, out);
    EXPECT_TRUE(out.ends_with('\n'));
    EXPECT_EQ(out.find("nan"), std::string::npos);
  }
}

}  // namespace
}  // namespace pepe
