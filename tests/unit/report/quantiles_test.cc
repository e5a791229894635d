#include "pepe/report/quantiles.h"

#include <string>

#include <gtest/gtest.h>

namespace pepe {
namespace {

struct ListCase {
  const char* name;
  const char* list;
  std::vector<ReportQuantile> want;
};

const ListCase kLists[] = {
    {"One", "99.9", {{"99.9", 99.9 / 100}}},
    {"TheUsual", "50,90,95,99", usual_quantiles()},
    {"TheOrderIsKept", "99,50", {{"99", 0.99}, {"50", 0.5}}},
    {"TheEnds", "0,100", {{"0", 0}, {"100", 1}}},
    {"Blanks", " 50 ,\t90", {{"50", 0.5}, {"90", 0.9}}},
    {"LabelsAreShort",
     "050,99.90,.5,0.,25.0",
     {{"50", 0.5}, {"99.9", 99.9 / 100}, {"0.5", 0.005}, {"0", 0}, {"25", 0.25}}},
    {"FifteenDigits", "99.9999999999999", {{"99.9999999999999", 99.9999999999999 / 100}}},
};

TEST(ReportQuantiles, AreReadInTheirOrder) {
  for (const ListCase& row : kLists) {
    SCOPED_TRACE(row.name);
    const auto quantiles = parse_quantiles(row.list);
    ASSERT_TRUE(quantiles) << quantiles.error().text();
    EXPECT_EQ(*quantiles, row.want);
  }
}

std::string count_up(std::size_t many) {
  std::string list = "0";
  for (std::size_t i = 1; i < many; ++i) list += ",0." + std::to_string(1000 + i);
  return list;
}

struct FaultCase {
  const char* name;
  std::string list;
  const char* text;
};

const FaultCase kFaults[] = {
    {"Empty", "", "\"\" is no percentile: want some from 0 to 100, as in 50,90,99.9"},
    {"EmptyItem", "50,,90", "\"\" is no percentile: want some from 0 to 100, as in 50,90,99.9"},
    {"TrailingComma", "50,", "\"\" is no percentile: want some from 0 to 100, as in 50,90,99.9"},
    {"Above", "101", "\"101\" is no percentile: want some from 0 to 100, as in 50,90,99.9"},
    {"JustAbove", "100.000000001", "\"100.000000001\" is no percentile: want some from 0 to 100, as in 50,90,99.9"},
    {"Negative", "-1", "\"-1\" is no percentile: want some from 0 to 100, as in 50,90,99.9"},
    {"NotANumber", "nan", "\"nan\" is no percentile: want some from 0 to 100, as in 50,90,99.9"},
    {"Infinite", "inf", "\"inf\" is no percentile: want some from 0 to 100, as in 50,90,99.9"},
    {"WithItsLetter", "p99", "\"p99\" is no percentile: want some from 0 to 100, as in 50,90,99.9"},
    {"Exponent", "1e1", "\"1e1\" is no percentile: want some from 0 to 100, as in 50,90,99.9"},
    {"SixteenDigits", "99.99999999999999",
     "\"99.99999999999999\" is no percentile: want some from 0 to 100, as in 50,90,99.9"},
    {"Escaped", "5\x1b[2J", "\"5\\x1b[2J\" is no percentile: want some from 0 to 100, as in 50,90,99.9"},
    {"Twice", "50,90,50", "50 stands there twice"},
    {"TwiceInOtherWords", "50,050.0", "50 stands there twice"},
    {"TooMany", count_up(kMaxReportQuantiles + 1), "want at most 100 percentiles"},
};

TEST(ReportQuantiles, SayWhatIsWrong) {
  for (const FaultCase& row : kFaults) {
    SCOPED_TRACE(row.name);
    const auto quantiles = parse_quantiles(row.list);
    ASSERT_FALSE(quantiles);
    EXPECT_EQ(quantiles.error().text(), row.text);
  }
}

TEST(ReportQuantiles, AreAHundredAtMost) {
  const auto quantiles = parse_quantiles(count_up(kMaxReportQuantiles));
  ASSERT_TRUE(quantiles);
  EXPECT_EQ(quantiles->size(), kMaxReportQuantiles);
}

}  // namespace
}  // namespace pepe
