#include "result/time_text.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace pepe {
namespace {

// Around seconds, zones and the ends of the range; each is a neighbour of the one before.
constexpr Timestamp kTimes[] = {
    {0, 0},
    {1, 0},
    {999'999'999, 0},
    {1'000'000'000, 0},
    {1'000'000'000, 60},
    {1'500'000'000, 60},
    {1'500'000'000, -330},
    {-1, 0},
    {-1'000'000'000, 0},
    {-1'000'000'001, 0},
    {-999'999'999, 0},
    {INT64_MAX, 0},
    {INT64_MAX - 1, 0},
    {INT64_MIN, 0},
    {INT64_MIN + 1, 0},
    {INT64_MIN + 854'775'808, 0},
    {INT64_MIN + 854'775'809, 0},
    {kZeroTime, 0},
    {kZeroTime + 1, 0},
    {kZeroTime, 0},
    {1'772'357'400'000'000'250, 0},
    {1'772'357'400'100'000'000, 0},
    {1'772'357'400'100'000'000, 330},
};

TEST(TimestampWriter, PrintsAsAppendRfc3339Does) {
  TimestampWriter writer;
  for (const Timestamp time : kTimes) {
    std::string want;
    append_rfc3339(time, want);
    std::string got;
    writer.append(time, got);
    EXPECT_EQ(got, want);
  }
}

TEST(TimestampReader, ReadsAsParseRfc3339Does) {
  TimestampReader reader;
  for (const Timestamp time : kTimes) {
    std::string text;
    append_rfc3339(time, text);
    for (int i = 0; i < 2; ++i) {
      const auto got = reader.parse(text);
      ASSERT_TRUE(got) << text;
      EXPECT_EQ(*got, *parse_rfc3339(text)) << text;
    }
  }
}

TEST(TimestampReader, RefusesAsParseRfc3339Does) {
  TimestampReader reader;
  ASSERT_TRUE(reader.parse("2026-03-01T09:30:00.5Z"));
  for (const char* text : {"2026-03-01T09:30:00.Z", "2026-03-01T09:30:00.5", "2026-03-01T09:30:00.5z",
                           "2026-03-01T09:30:00.5ZZ", "2026-03-01T09:30:00x5Z", "2026-03-01T09:30:0", "", "Z", ".5Z"}) {
    EXPECT_FALSE(reader.parse(text)) << text;
  }
  // Whole, the last second is within the range; it is not with all decimals.
  ASSERT_TRUE(reader.parse("2262-04-11T23:47:16Z"));
  EXPECT_FALSE(reader.parse("2262-04-11T23:47:16.9Z"));
  const auto many_decimals = reader.parse("2026-03-01T09:30:00.1234567891234567890123456789Z");
  ASSERT_TRUE(many_decimals);
  EXPECT_EQ(many_decimals->unix_nanos % 1'000'000'000, 123'456'789);
}

TEST(LocalZone, IsThatOfEachInstant) {
  LocalZone zone;
  for (std::int64_t quarter = -3; quarter < 200'000; quarter += 997) {
    const std::int64_t nanos = quarter * 900'000'000'000 + 1;
    EXPECT_EQ(zone.minutes(nanos), local_zone_minutes(nanos));
  }
  EXPECT_EQ(zone.minutes(INT64_MIN), local_zone_minutes(INT64_MIN));
}

}  // namespace
}  // namespace pepe
