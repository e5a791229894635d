#include "pepe/base/units.h"

#include <chrono>
#include <limits>
#include <string>

#include <gtest/gtest.h>

namespace pepe {
namespace {

using namespace std::chrono_literals;

struct RateCase {
  const char* text;
  Rate want;
};

constexpr RateCase kRateCases[] = {
    {"500", {500, 1s}},
    {"+500", {500, 1s}},
    {"500/1s", {500, 1s}},
    {"500/s", {500, 1s}},
    {"3/250ms", {3, 250ms}},
    {"240/m", {240, 1min}},
    {"1/h", {1, 1h}},
    {"7/ns", {7, 1ns}},
    {"7/us", {7, 1us}},
    {"7/\u00b5s", {7, 1us}},
    {"7/\u03bcs", {7, 1us}},
    {"7/ms", {7, 1ms}},
    {"1/1m30s", {1, 90s}},
    {"0", {0, 1s}},
    {"-0", {0, 1s}},
    {"0/anything", {0, 1s}},
    {"infinity", {0, 1s}},
    {"5/0s", {5, 0s}},
    {"5/0", {5, 0s}},
    {"-5", {-5, 1s}},
    {"5/-1s", {5, -1s}},
    {"2000000000", {2'000'000'000, 1s}},
    {"9223372036854775807", {std::numeric_limits<std::int64_t>::max(), 1s}},
};

TEST(ParseRate, ReadsEverySpelling) {
  for (const RateCase& row : kRateCases) {
    SCOPED_TRACE(row.text);
    const auto got = parse_rate(row.text);
    ASSERT_TRUE(got) << got.error().text();
    EXPECT_EQ(*got, row.want);
  }
}

TEST(ParseRate, UnpacedIsZeroHitsOrZeroTime) {
  EXPECT_TRUE(parse_rate("0").value().unpaced());
  EXPECT_TRUE(parse_rate("infinity").value().unpaced());
  EXPECT_TRUE(parse_rate("5/0s").value().unpaced());
  EXPECT_FALSE(parse_rate("1/h").value().unpaced());
}

struct FaultCase {
  const char* text;
  const char* want;  // within the error's text
};

constexpr FaultCase kRateFaults[] = {
    {"", "\"\" is not a whole number of hits: want HITS[/DURATION], such as 500, 240/m or 1/2s"},
    {"abc", "\"abc\" is not a whole number of hits: want HITS"},
    {"/1s", "\"\" is not a whole number of hits"},
    {" 5", "\" 5\" is not a whole number of hits"},
    {"5 /s", "\"5 \" is not a whole number of hits"},
    {"0x10", "\"0x10\" is not a whole number of hits"},
    {"1_000", "\"1_000\" is not a whole number of hits"},
    {"1e3", "\"1e3\" is not a whole number of hits"},
    {"+-5", "\"+-5\" is not a whole number of hits"},
    {"0.5", "\"0.5\" is not a whole number of hits: write 1/2s"},
    {".5", "write 1/2s"},
    {"1.5", "write 3/2s"},
    {"0.3", "write 3/10s"},
    {"2.50/m", "write 5/2m0s"},
    {"0.0", "want HITS"},
    {"1.5.5", "want HITS"},
    {"1.5/x", "want HITS"},
    {"1.123456789123", "want HITS"},
    {"99999999999999999999", "out of range"},
    {"5/", "time: invalid duration \"\": want HITS/DURATION"},
    {"5/1", "time: missing unit in duration \"1\""},
    {"5/1x", "time: unknown unit \"x\" in duration \"1x\""},
    {"5/1s/2", "time: unknown unit"},
};

TEST(ParseRate, SaysWhatToWriteInstead) {
  for (const FaultCase& row : kRateFaults) {
    SCOPED_TRACE(row.text);
    const auto got = parse_rate(row.text);
    ASSERT_FALSE(got);
    EXPECT_NE(got.error().text().find(row.want), std::string::npos) << got.error().text();
  }
}

struct SizeCase {
  const char* text;
  std::int64_t want;
};

constexpr SizeCase kSizeCases[] = {
    {"-1", -1},
    {"", 0},
    {"0", 0},
    {"1500", 1500},
    {"1500 b", 1500},
    {"1500 Byte", 1500},
    {"1k", 1 << 10},
    {"1kb", 1 << 10},
    {"1KB", 1 << 10},
    {"1kB", 1 << 10},
    {"1  Kilobytes", 1 << 10},
    {"2megabytes", 2 << 20},
    {"3G", std::int64_t{3} << 30},
    {"3 tera", std::int64_t{3} << 40},
    {"3PB", std::int64_t{3} << 50},
    {"7E", std::int64_t{7} << 60},
    {"9223372036854775807", std::numeric_limits<std::int64_t>::max()},
};

TEST(ParseSize, TakesUnitsInAnyCase) {
  for (const SizeCase& row : kSizeCases) {
    SCOPED_TRACE(row.text);
    const auto got = parse_size(row.text);
    ASSERT_TRUE(got) << got.error().text();
    EXPECT_EQ(*got, row.want);
  }
}

constexpr FaultCase kSizeFaults[] = {
    {"-2", "\"-2\" is not a size"},
    {"+1", "is not a size"},
    {" 1", "is not a size"},
    {"kb", "is not a size"},
    {"1.5k", "\"1.5k\" is not a size: want a whole number and a unit"},
    {"1XB", "is not a size"},
    {"1kbyte", "is not a size"},
    {"1Kb", "\"1Kb\" would be bits: want bytes, such as 1KB"},
    {"5 Mb", "\"5 Mb\" would be bits: want bytes, such as 5 MB"},
    {"9EB", "\"9EB\" is out of range"},
    {"9223372036854775808", "out of range"},
    {"99999999999999999999999", "out of range"},
};

TEST(ParseSize, SaysWhatWasExpected) {
  for (const FaultCase& row : kSizeFaults) {
    SCOPED_TRACE(row.text);
    const auto got = parse_size(row.text);
    ASSERT_FALSE(got);
    EXPECT_NE(got.error().text().find(row.want), std::string::npos) << got.error().text();
  }
}

}  // namespace
}  // namespace pepe
