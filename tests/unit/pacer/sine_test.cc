#include <chrono>

#include "schedule.h"

namespace pepe {
namespace {

using namespace std::chrono_literals;

LoadFlags wave(Rate mean, Rate amplitude, Nanos period) {
  LoadFlags flags{.rate = mean};
  flags.amplitude = amplitude;
  flags.period = period;
  return flags;
}

struct DueCase {
  const char* name;
  Rate mean;
  Rate amplitude;
  Nanos period;
  std::uint64_t hit;
  std::optional<Nanos> want;
};

constexpr DueCase kDueCases[] = {
    {"FirstHitAtOnce", {100, 1s}, {50, 1s}, 10s, 0, 0ns},
    {"SecondHitSoonerThanAtTheMean", {100, 1s}, {50, 1s}, 10s, 1, 9'984'341ns},
    {"OnTheWayToThePeak", {100, 1s}, {50, 1s}, 10s, 250, 1'966'165'621ns},
    {"BeyondThePeak", {100, 1s}, {50, 1s}, 10s, 330, 2'502'816'856ns},
    {"InTheHollow", {100, 1s}, {50, 1s}, 10s, 660, 5'008'461'816ns},
    {"LastOfAPeriod", {100, 1s}, {50, 1s}, 10s, 999, 9'989'984'242ns},
    {"APeriodIsExact", {100, 1s}, {50, 1s}, 10s, 1000, 10s},
    {"TheNextPeriodIsTheSame", {100, 1s}, {50, 1s}, 10s, 1001, 10'009'984'341ns},
    {"DoesNotDrift", {100, 1s}, {50, 1s}, 10s, 100'000'000'000, 1'000'000'000s},
    {"DownToNothing", {10, 1s}, {10, 1s}, 10s, 84, 5'234'084'685ns},
    {"UpFromNothing", {10, 1s}, {10, 1s}, 10s, 99, 9'896'645'266ns},
    {"WithoutAmplitude", {3, 1s}, {0, 1s}, 7s, 1, 333'333'333ns},
    {"APeriodOfANanosecond", {100, 1s}, {100, 1s}, 1ns, 7, 70ms},
    {"LastInRange", {1, 1h}, {1, 1h}, 1h, 2'562'047, 2'562'047h},
    {"OutOfRange", {1, 1h}, {1, 1h}, 1h, 2'562'048, std::nullopt},
    {"OutOfRangeByFar", {1, 1h}, {1, 1h}, 1h, std::numeric_limits<std::uint64_t>::max(), std::nullopt},
};

TEST(SinePacer, GivesEachHitItsDueTime) {
  for (const DueCase& row : kDueCases) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(make_load("sine", wave(row.mean, row.amplitude, row.period)).pacer->due(row.hit), row.want);
  }
}

struct CountCase {
  const char* name;
  Nanos before;
  std::uint64_t want;
};

// The integrals: 115.2, 255.0, 329.6, 659.2, 804.2.
constexpr CountCase kCountCases[] = {
    {"Nothing", 0s, 0},       {"Negative", -1s, 0},
    {"TheFirst", 1ns, 1},     {"ASecond", 1s, 116},
    {"TwoSeconds", 2s, 255},  {"UpToThePeak", 2500ms, 330},
    {"HalfAPeriod", 5s, 660}, {"InTheHollow", 7s, 805},
    {"APeriod", 10s, 1000},   {"APeriodAndTheNextHit", 10s + 1ns, 1001},
    {"ADay", 24h, 8'640'000},
};

TEST(SinePacer, CountsTheHitsOfADuration) {
  const Load load = make_load("sine", wave({100, 1s}, {50, 1s}, 10s));
  for (const CountCase& row : kCountCases) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(load.pacer->hits_before(row.before), row.want);
  }
}

// Where the rate comes down to 0 the count hardly grows, so that a rounding would show.
TEST(SinePacer, NeverGoesBackInTheHollow) {
  for (const Nanos period : {Nanos{1'000'003}, Nanos{10s}, Nanos{24h}}) {
    SCOPED_TRACE(period.count());
    const Load load = make_load("sine", wave({100'000, 1s}, {100'000, 1s}, period));
    std::uint64_t before = 0;
    const Nanos hollow = period / 4 * 3;
    for (Nanos t = hollow - Nanos{300'000}; t < hollow + Nanos{300'000}; t += Nanos{1}) {
      const std::uint64_t hits = load.pacer->hits_before(t);
      ASSERT_GE(hits, before) << t.count();
      before = hits;
    }
  }
}

TEST(SinePacer, SaysWhatItSends) {
  LoadFlags flags = wave({100, 1s}, {50, 1s}, 10s);
  EXPECT_EQ(make_load("sine", flags).shape, "sine, 100/1s and 50/1s up and down in 10s");
  EXPECT_EQ(make_load("sine", flags).rate, (Rate{100, 1s}));
  flags.duration = 5s;
  EXPECT_EQ(make_load("sine", flags).rate, (Rate{660, 5s}));
}

TEST(SinePacer, RefusesWhatItCannotSend) {
  LoadFlags flags = wave({100, 1s}, {50, 1s}, 10s);
  flags.amplitude.reset();
  EXPECT_EQ(refusal("sine", flags), "-pacer=sine needs -amplitude, how far the rate goes up and down from -rate");
  flags = wave({100, 1s}, {50, 1s}, 0s);
  EXPECT_EQ(refusal("sine", flags), "-pacer=sine needs a -period above 0, the time from one peak to the next");
  flags.period.reset();
  EXPECT_EQ(refusal("sine", flags), "-pacer=sine needs a -period above 0, the time from one peak to the next");
  EXPECT_EQ(refusal("sine", wave({0, 1s}, {0, 1s}, 10s)), "-rate=0 leaves -pacer=sine nothing to go up and down from");
  EXPECT_EQ(refusal("sine", wave({1, 1s}, {61, 1min}, 10s)),
            "-amplitude=61/1m0s is more than -rate=1/1s: the rate would go below 0");
  EXPECT_EQ(refusal("sine", wave({1'000'000'000, 1s}, {1'000'000'000, 1s}, 1h)),
            "-rate=1000000000/1s with -amplitude=1000000000/1s and -period=1h0m0s is too fine or too long to be exact: "
            "take rounder rates");
}

TEST(SinePacer, TakesTheLargestThatIsOfUse) {
  EXPECT_EQ(make_load("sine", wave({1'000'000, 1s}, {1'000'000, 1s}, 24h)).pacer->due(86'400'000'000), 24h);
  EXPECT_EQ(make_load("sine", wave({999'983, 1s}, {99'991, 1s}, 24h)).pacer->due(86'398'531'200), 24h);
}

}  // namespace
}  // namespace pepe
