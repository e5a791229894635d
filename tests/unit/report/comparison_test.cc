#include "report/comparison.h"

#include <string>

#include <gtest/gtest.h>

#include "report/reporters.h"

namespace pepe {
namespace {

Metrics hits(std::initializer_list<Result> results) {
  Metrics metrics;
  for (const Result& result : results) metrics.add(result);
  return metrics;
}

Result failure(const char* error) {
  Result result;
  result.error = error;
  return result;
}

std::string text_of(const Metrics& base, const Metrics& changed) {
  std::string out;
  write_text_comparison(base, changed, {}, out);
  return out;
}

struct VerdictCase {
  const char* name;
  Change change;
  const char* of_latency;
  const char* of_ratio;
};

constexpr auto kKnown = Change::Confidence::kKnown;
const VerdictCase kVerdicts[] = {
    {"Above", {0, 5, kKnown, {1, 9}}, "slower", "better"},
    {"Below", {5, 0, kKnown, {-9, -1}}, "faster", "worse"},
    {"AroundNothing", {0, 1, kKnown, {-1, 3}}, "unclear", "unclear"},
    {"FromNothing", {0, 1, kKnown, {0, 3}}, "unclear", "unclear"},
    {"Nothing", {7, 7, kKnown, {0, 0}}, "same", "same"},
    {"TooFew", {0, 5, Change::Confidence::kTooFew, {}}, "too few hits", "too few hits"},
};

TEST(Comparison, SaysWhatAnIntervalMeans) {
  for (const VerdictCase& row : kVerdicts) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(verdict(row.change, Growth::kWorse), row.of_latency);
    EXPECT_EQ(verdict(row.change, Growth::kBetter), row.of_ratio);
  }
}

TEST(Comparison, KnowsAKindOfErrorByWhatItsTextsShare) {
  const Metrics base = hits({failure("a:1->b: x"), failure("only here")});
  const Metrics changed = hits({failure("a:2->b: x"), failure("a:3->b: x"), failure("new")});
  const Comparison comparison = compare(base, changed, {});
  ASSERT_EQ(comparison.errors.size(), 3U);
  EXPECT_EQ(comparison.errors[0].name, "a:*->b: x");
  EXPECT_EQ(comparison.errors[0].change.base, 1);
  EXPECT_EQ(comparison.errors[0].change.changed, 2);
  EXPECT_EQ(comparison.errors[1].name, "only here");
  EXPECT_EQ(comparison.errors[1].change.changed, 0);
  EXPECT_EQ(comparison.errors[2].name, "new");
  EXPECT_EQ(comparison.errors[2].change.base, 0);
}

TEST(Comparison, HasNoShareOfNothing) {
  EXPECT_FALSE((Change{.base = 0, .changed = 5}.relative()));
  EXPECT_EQ((Change{.base = 4, .changed = 5}.relative()), 0.25);
  EXPECT_EQ((Change{.base = -4, .changed = -5}.relative()), -0.25);
}

TEST(TextComparison, GivesAnErrorOneLineWhateverItHolds) {
  const std::string out = text_of(hits({failure("one\ntwo\tthree \x1b[2J")}), hits({}));
  EXPECT_NE(out.find("1  0  -1  one\\ntwo\\tthree \\x1b[2J\n"), std::string::npos) << out;
}

TEST(TextComparison, SaysHowManyErrorsItDoesNotShow) {
  Metrics base;
  for (std::size_t i = 0; i < kMaxErrors + 2; ++i) base.add(failure(("error " + std::to_string(i)).c_str()));
  EXPECT_NE(text_of(base, hits({})).find("\n2  0  -2  ... others\n"), std::string::npos);
}

TEST(TextComparison, EndsNoLineInBlanks) {
  const std::string out = text_of(hits({failure("x")}), hits({failure("y")}));
  EXPECT_EQ(out.find(" \n"), std::string::npos) << out;
}

}  // namespace
}  // namespace pepe
