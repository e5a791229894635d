#include <limits>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "pepe/base/time.h"

namespace pepe {
namespace {

std::string rfc3339(Timestamp time) {
  std::string out;
  append_rfc3339(time, out);
  return out;
}

struct TimeCase {
  const char* name;
  Timestamp time;
  const char* text;
};

constexpr std::int64_t kSecond = 1'000'000'000;

constexpr TimeCase kTimeCases[] = {
    {"Epoch", {0, 0}, "1970-01-01T00:00:00Z"},
    {"WholeSecond", {1'700'604'800 * kSecond, 0}, "2023-11-21T22:13:20Z"},
    {"TrailingZerosGo", {1'700'604'800 * kSecond + 500'000'000, 0}, "2023-11-21T22:13:20.5Z"},
    {"NineDecimals", {1'700'604'800 * kSecond + 1, 0}, "2023-11-21T22:13:20.000000001Z"},
    {"EastOfUtc", {1'700'604'800 * kSecond, 120}, "2023-11-22T00:13:20+02:00"},
    {"WestOfUtc", {1'700'604'800 * kSecond, -330}, "2023-11-21T16:43:20-05:30"},
    {"Before1970", {-1, 0}, "1969-12-31T23:59:59.999999999Z"},
    {"LeapDay", {1'709'208'000 * kSecond, 0}, "2024-02-29T12:00:00Z"},
    {"Latest", {std::numeric_limits<std::int64_t>::max(), 0}, "2262-04-11T23:47:16.854775807Z"},
    {"Earliest", {std::numeric_limits<std::int64_t>::min(), 0}, "1677-09-21T00:12:43.145224192Z"},
    {"GosZeroTime", {kZeroTime, 0}, "0001-01-01T00:00:00Z"},
};

TEST(Rfc3339, PrintsAndReadsBack) {
  for (const TimeCase& row : kTimeCases) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(rfc3339(row.time), row.text);
    const auto got = parse_rfc3339(row.text);
    ASSERT_TRUE(got) << got.error().text();
    EXPECT_EQ(*got, row.time);
  }
}

TEST(Rfc3339, RoundTripsAnyTime) {
  std::mt19937_64 random{2};
  for (int i = 0; i < 20'000; ++i) {
    const Timestamp want{static_cast<std::int64_t>(random()),
                         static_cast<std::int16_t>(static_cast<int>(random() % 2879) - 1439)};
    const auto got = parse_rfc3339(rfc3339(want));
    ASSERT_TRUE(got) << got.error().text();
    ASSERT_EQ(*got, want) << rfc3339(want);
  }
}

TEST(Rfc3339, CutsDecimalsBeyondNine) {
  EXPECT_EQ(parse_rfc3339("1970-01-01T00:00:00.1234567899Z").value().unix_nanos, 123'456'789);
}

TEST(Rfc3339, RefusesEverythingElse) {
  for (const char* text : {"",
                           "x",
                           "1970-01-01",
                           "1970-01-01 00:00:00Z",
                           "1970-01-01T00:00:00",
                           "1970-01-01T00:00:00z",
                           "1970-13-01T00:00:00Z",
                           "1970-02-29T00:00:00Z",
                           "1970-00-01T00:00:00Z",
                           "1970-01-01T24:00:00Z",
                           "1970-01-01T00:60:00Z",
                           "1970-01-01T00:00:60Z",
                           "1970-01-01T00:00:00.Z",
                           "1970-01-01T00:00:00,5Z",
                           "1970-01-01T00:00:00Zx",
                           "1970-01-01T00:00:00+1:00",
                           "1970-01-01T00:00:00+24:00",
                           "1970-01-01T00:00:00+0100",
                           "70-01-01T00:00:00Z",
                           "+970-01-01T00:00:00Z",
                           "2263-01-01T00:00:00Z",
                           "1677-01-01T00:00:00Z",
                           "9999-12-31T23:59:59Z",
                           "0001-01-01T00:00:01Z"}) {
    const auto got = parse_rfc3339(text);
    ASSERT_FALSE(got) << text;
    EXPECT_NE(got.error().text().find(text), std::string::npos);
    EXPECT_NE(got.error().text().find("RFC 3339"), std::string::npos);
  }
}

TEST(LocalZone, IsAWholeNumberOfMinutesOfAtMostADay) {
  for (const std::int64_t time :
       {std::int64_t{0}, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}) {
    EXPECT_LT(local_zone_minutes(time), 1440);
    EXPECT_GT(local_zone_minutes(time), -1440);
  }
}

}  // namespace
}  // namespace pepe
