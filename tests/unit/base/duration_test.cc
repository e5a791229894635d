#include <chrono>
#include <limits>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "pepe/base/time.h"

namespace pepe {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

struct ParseCase {
  const char* name;
  const char* text;
  Nanos want;
};

constexpr ParseCase kParseCases[] = {
    {"ZeroNeedsNoUnit", "0", 0ns},
    {"SignedZero", "-0", 0ns},
    {"Seconds", "5s", 5s},
    {"PlusSign", "+5s", 5s},
    {"MinusSign", "-1.5ms", -1500us},
    {"Compound", "1h30m", 90min},
    {"AnyOrderAndRepeats", "1s1h1s", 1h + 2s},
    {"PointFirst", ".5s", 500ms},
    {"PointLast", "5.s", 5s},
    {"FractionsOfEach", "0.1s100000us", 200ms},
    {"MixedWithFraction", "1h0m.5s", 1h + 500ms},
    {"MicroSign", "3\u00b5s", 3us},
    {"GreekMu", "3\u03bcs", 3us},
    {"LatinU", "3us", 3us},
    {"FractionBelowANanosecondIsCut", "1.9ns", 1ns},
    {"DigitsBeyondSixtyThreeBits", "0.3333333333333333333h", 20min},
    {"Largest", "9223372036854775807ns", Nanos{kMax}},
    {"Smallest", "-9223372036854775808ns", Nanos{kMin}},
    {"LongFraction", "0.100000000000000000000000s", 100ms},
};

TEST(ParseDuration, ReadsGoSyntax) {
  for (const ParseCase& row : kParseCases) {
    SCOPED_TRACE(row.name);
    const auto got = parse_duration(row.text);
    ASSERT_TRUE(got) << got.error().text();
    EXPECT_EQ(*got, row.want);
  }
}

struct FaultCase {
  const char* name;
  const char* text;
  const char* want;
};

constexpr FaultCase kFaultCases[] = {
    {"Empty", "", "time: invalid duration \"\""},
    {"SignOnly", "-", "time: invalid duration \"-\""},
    {"Word", "forever", "time: invalid duration \"forever\""},
    {"UnitOnly", "s", "time: invalid duration \"s\""},
    {"PointOnly", ".s", "time: invalid duration \".s\""},
    {"NoUnit", "5", "time: missing unit in duration \"5\""},
    {"NoUnitAtTheEnd", "1h5", "time: missing unit in duration \"1h5\""},
    {"UnknownUnit", "1x", "time: unknown unit \"x\" in duration \"1x\""},
    {"CapitalUnit", "1S", "time: unknown unit \"S\" in duration \"1S\""},
    {"Blank", "1 s", "time: unknown unit \" s\" in duration \"1 s\""},
    {"LeadingBlank", " 1s", "time: invalid duration \" 1s\""},
    {"InnerSign", "1h-5m", "time: unknown unit \"h-\" in duration \"1h-5m\""},
    {"Overflow", "9223372036854775808ns", "time: invalid duration \"9223372036854775808ns\""},
    {"OverflowByUnit", "2562048h", "time: invalid duration \"2562048h\""},
    {"OverflowBySum", "9223372036s1s", "time: invalid duration \"9223372036s1s\""},
    {"OverflowByDigits", "99999999999999999999s", "time: invalid duration \"99999999999999999999s\""},
    {"Control", "1\n", "time: unknown unit \"\\n\" in duration \"1\\n\""},
};

TEST(ParseDuration, RefusesInGosWords) {
  for (const FaultCase& row : kFaultCases) {
    SCOPED_TRACE(row.name);
    const auto got = parse_duration(row.text);
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().text(), row.want);
  }
}

struct FormatCase {
  Nanos duration;
  const char* want;
};

constexpr FormatCase kFormatCases[] = {
    {0ns, "0s"},
    {7ns, "7ns"},
    {1100ns, "1.1\u00b5s"},
    {1500ns, "1.5\u00b5s"},
    {999'999ns, "999.999\u00b5s"},
    {2'200us, "2.2ms"},
    {123'457us, "123.457ms"},
    {1s, "1s"},
    {1'235ms, "1.235s"},
    {61s, "1m1s"},
    {1h, "1h0m0s"},
    {1h + 1min, "1h1m0s"},
    {2h + 2min, "2h2m0s"},
    {5min + 1ms, "5m0.001s"},
    {5s + 1ns, "5.000000001s"},
    {-1500us, "-1.5ms"},
    {Nanos{kMax}, "2562047h47m16.854775807s"},
    {Nanos{kMin}, "-2562047h47m16.854775808s"},
};

TEST(FormatDuration, PrintsGosForm) {
  for (const FormatCase& row : kFormatCases) EXPECT_EQ(format_duration(row.duration), row.want);
}

TEST(FormatDuration, ReadsBack) {
  std::mt19937_64 random{1};
  for (int i = 0; i < 20'000; ++i) {
    const auto bits = random();
    const Nanos want{static_cast<std::int64_t>(bits) >> (bits & 63)};
    const auto got = parse_duration(format_duration(want));
    ASSERT_TRUE(got) << format_duration(want);
    ASSERT_EQ(*got, want) << format_duration(want);
  }
}

constexpr FormatCase kRoundCases[] = {
    {0ns, "0s"},
    {999ns, "999ns"},
    {1500ns, "1.5\u00b5s"},
    {123'456'500ns, "123.457ms"},
    {123'456'499ns, "123.456ms"},
    {999'999'499ns, "999.999ms"},
    {999'999'500ns, "1s"},
    {1'234'500us, "1.235s"},
    {59'999'500us, "1m0s"},
    {61'499ms, "1m1s"},
    {61'500ms, "1m2s"},
    {1h + 29s, "1h0m0s"},
    {1h + 30s, "1h1m0s"},
    {-1'234'567ns, "-1.234567ms"},
    {Nanos{kMax}, "2562047h47m0s"},
};

TEST(RoundDuration, KeepsOneUnitBelowItsOwn) {
  for (const FormatCase& row : kRoundCases) {
    SCOPED_TRACE(row.duration.count());
    EXPECT_EQ(format_duration(round_duration(row.duration)), row.want);
  }
}

TEST(After, EndsWithTheClock) {
  const Instant now{100s};
  EXPECT_EQ(after(now, 0ns), now);
  EXPECT_EQ(after(now, 5s), now + 5s);
  EXPECT_EQ(after(now, Nanos{kMax} - 100s), Instant::max());
  EXPECT_EQ(after(now, Nanos{kMax}), Instant::max());
}

}  // namespace
}  // namespace pepe
