#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>

#include <gtest/gtest.h>

#include "pepe/pacer/pacer.h"

namespace pepe {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kMostHits = std::numeric_limits<std::uint64_t>::max();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

struct DueCase {
  const char* name;
  Rate rate;
  std::uint64_t hit;
  std::optional<Nanos> want;
};

constexpr DueCase kDueCases[] = {
    {"FirstHitAtOnce", {50, 1s}, 0, 0s},
    {"FirstHitAtOnceAtASlowRate", {1, 1h}, 0, 0s},
    {"SecondHitAfterOneInterval", {50, 1s}, 1, 20ms},
    {"RateHitsFillOneUnit", {50, 1s}, 50, 1s},
    {"OneAnHour", {1, 1h}, 3, 3h},
    {"ThirdsRoundDown", {3, 1s}, 1, 333'333'333ns},
    {"ThirdsFillTheSecond", {3, 1s}, 3, 1s},
    {"ThirdsDoNotDrift", {3, 1s}, 3'000'000, 1'000'000s},
    {"SevenInThreeSeconds", {7, 3s}, 7'000'000'007, 3'000'000'003s},
    {"OneANanosecond", {1'000'000'000, 1s}, 123'456'789, 123'456'789ns},
    {"TwoANanosecond", {2'000'000'000, 1s}, 3, 1ns},
    {"MoreThanOneANanosecondShareInstants", {2'000'000'000, 1s}, 2, 1ns},
    {"ManyANanosecond", {kMax, 1ns}, kMostHits, 2ns},
    {"BeyondTheNarrowPath", {kMax, Nanos{kMax - 1}}, std::uint64_t{kMax}, Nanos{kMax - 1}},
    {"LastInRange", {1, 1ns}, std::uint64_t{kMax}, Nanos{kMax}},
    {"FirstOutOfRange", {1, 1ns}, std::uint64_t{kMax} + 1, std::nullopt},
    {"OutOfRangeByHours", {1, 1h}, 2'562'048, std::nullopt},
    {"LastInRangeByHours", {1, 1h}, 2'562'047, 2'562'047h},
    {"OutOfRangeByFar", {1, Nanos{kMax}}, kMostHits, std::nullopt},
    {"Unpaced", {0, 1s}, kMostHits, 0s},
    {"PerNothing", {5, 0s}, kMostHits, 0s},
};

TEST(ConstantPacer, GivesEachHitItsExactDueTime) {
  for (const DueCase& row : kDueCases) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(make_constant_pacer(row.rate)->due(row.hit), row.want);
  }
}

struct CountCase {
  const char* name;
  Rate rate;
  Nanos duration;
  std::uint64_t want;
};

constexpr CountCase kCountCases[] = {
    {"HundredASecond", {100, 1s}, 1s, 100},
    {"MultipleOfTheIntervalCountsItself", {5, 1s}, 1s, 5},
    {"StartedIntervalCounts", {5, 1s}, 500ms, 3},
    {"ShorterThanAnInterval", {5, 1s}, 50ms, 1},
    {"OneAndAHalf", {1, 1s}, 1500ms, 2},
    {"Thirds", {333, 1s}, 3s, 999},
    {"SevenInThreeSeconds", {7, 3s}, 10s, 24},
    {"HundredAMinute", {100, 1min}, 3s, 5},
    {"OneHitInAMillisecond", {1, 1s}, 1ms, 1},
    {"Nothing", {100, 1s}, 0s, 0},
    {"Negative", {100, 1s}, -1s, 0},
    {"OneAnHour", {1, 1h}, 90min, 2},
    {"OneNanosecond", {1'000'000'000, 1s}, 1ns, 1},
    {"TwoANanosecond", {2'000'000'000, 1s}, 50ms, 100'000'000},
    {"Saturates", {kMax, 1ns}, Nanos{kMax}, kMostHits},
    {"Longest", {1, 1ns}, Nanos{kMax}, std::uint64_t{kMax}},
    {"Unpaced", {0, 1s}, 1ns, kMostHits},
    {"UnpacedForNothing", {0, 1s}, 0ns, 0},
    {"PerNothing", {5, 0s}, 1s, kMostHits},
};

TEST(ConstantPacer, CountsTheHitsOfADuration) {
  for (const CountCase& row : kCountCases) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(make_constant_pacer(row.rate)->hits_before(row.duration), row.want);
  }
}

TEST(ConstantPacer, IsUnpacedOnlyWithoutHitsOrTime) {
  EXPECT_FALSE(make_constant_pacer({50, 1s})->unpaced());
  EXPECT_FALSE(make_constant_pacer({2'000'000'000, 1s})->unpaced());
  EXPECT_TRUE(make_constant_pacer({0, 1s})->unpaced());
  EXPECT_TRUE(make_constant_pacer({5, 0s})->unpaced());
}

TEST(ConstantPacerDeathTest, RefusesANegativeRate) {
  EXPECT_DEATH(make_constant_pacer({-5, 1s}), "bug");
  EXPECT_DEATH(make_constant_pacer({5, -1s}), "bug");
}

}  // namespace
}  // namespace pepe
