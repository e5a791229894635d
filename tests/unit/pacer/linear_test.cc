#include <chrono>

#include "schedule.h"

namespace pepe {
namespace {

using namespace std::chrono_literals;

LoadFlags ramp(Rate from, Rate to, std::optional<Nanos> duration) {
  LoadFlags flags{.rate = from};
  flags.rate_to = to;
  flags.duration = duration;
  return flags;
}

constexpr Rate kNone{0, 1s};

struct DueCase {
  const char* name;
  Rate from;
  Rate to;
  Nanos duration;
  std::uint64_t hit;
  std::optional<Nanos> want;
};

constexpr DueCase kDueCases[] = {
    {"FirstHitAtOnce", {100, 1s}, {200, 1s}, 1s, 0, 0ns},
    {"FirstHitAtOnceFromNothing", kNone, {100, 1s}, 10s, 0, 0ns},
    {"SecondHitFromNothing", kNone, {100, 1s}, 10s, 1, 447'213'595ns},
    {"TheSquareOfTheTime", kNone, {100, 1s}, 10s, 20, 2s},
    {"LastHit", kNone, {100, 1s}, 10s, 499, 9'989'994'994ns},
    {"EndsWithTheDuration", kNone, {100, 1s}, 10s, 500, std::nullopt},
    {"Down", {100, 1s}, kNone, 10s, 1, 10'005'005ns},
    {"DownAfterASecond", {100, 1s}, kNone, 10s, 95, 1s},
    {"DownToTheLastHit", {100, 1s}, kNone, 10s, 499, 9'552'786'404ns},
    {"UpFromARate", {100, 1s}, {200, 1s}, 1s, 22, 200ms},
    {"Level", {50, 1s}, {50, 1s}, 1min, 1234, 24'680ms},
    {"UnitsThatDiffer", {7, 3s}, {1, 7s}, 1min, 50, 27'228'623'190ns},
    {"HalfAnHourOfOne", {1000, 1s}, {10'000, 1s}, 1h, 5'850'000, 30min},
    {"AnHourToTheLastHit", {1000, 1s}, {10'000, 1s}, 1h, 19'799'999, 3'599'999'899'999ns},
    {"SeveralInANanosecond", {2, 1ns}, {2, 1ns}, 1ns, 1, 0ns},
    {"Longest", kNone, {1, 1h}, kLongest, 1, 8'149'127'478'776'754ns},
    {"LongestToTheLastHit", kNone, {1, 1h}, kLongest, 1'281'023, 9'223'368'818'426'826'380ns},
    {"NoHitBeyondTheLast", {5, 1s}, {50, 1s}, 1s, std::numeric_limits<std::uint64_t>::max(), std::nullopt},
};

TEST(LinearPacer, GivesEachHitItsExactDueTime) {
  for (const DueCase& row : kDueCases) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(make_load("linear", ramp(row.from, row.to, row.duration)).pacer->due(row.hit), row.want);
  }
}

struct CountCase {
  const char* name;
  Rate from;
  Rate to;
  Nanos duration;
  Nanos before;
  std::uint64_t want;
};

constexpr CountCase kCountCases[] = {
    {"Nothing", kNone, {100, 1s}, 10s, 0ns, 0},
    {"Negative", kNone, {100, 1s}, 10s, -1s, 0},
    {"TheFirst", kNone, {100, 1s}, 10s, 1ns, 1},
    {"NotYetTheSecond", kNone, {100, 1s}, 10s, 447'213'595ns, 1},
    {"TheSecond", kNone, {100, 1s}, 10s, 447'213'596ns, 2},
    {"HalfTheTimeAQuarterOfTheHits", kNone, {100, 1s}, 10s, 5s, 125},
    {"All", kNone, {100, 1s}, 10s, 10s, 500},
    {"NoMoreThanAll", kNone, {100, 1s}, 10s, 1h, 500},
    {"HalfTheTimeThreeQuartersDown", {100, 1s}, kNone, 10s, 5s, 375},
    {"APartIsRoundedUp", {7, 3s}, {1, 7s}, 1min, 1min, 75},
    {"Longest", kNone, {1, 1h}, kLongest, kLongest, 1'281'024},
    {"Saturates",
     {kLongest.count() / 2, 1s},
     {kLongest.count() / 2, 1s},
     5s,
     5s,
     std::numeric_limits<std::uint64_t>::max()},
};

TEST(LinearPacer, CountsTheHitsOfADuration) {
  for (const CountCase& row : kCountCases) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(make_load("linear", ramp(row.from, row.to, row.duration)).pacer->hits_before(row.before), row.want);
  }
}

TEST(LinearPacer, SaysWhatItSends) {
  const Load load = make_load("linear", ramp(kNone, {100, 1s}, 10s));
  EXPECT_EQ(load.shape, "linear, 0/1s to 100/1s");
  EXPECT_EQ(load.rate, (Rate{500, 10s}));
  EXPECT_EQ(load.duration, 10s);
  EXPECT_FALSE(load.pacer->unpaced());
}

TEST(LinearPacer, RefusesWhatItCannotSend) {
  EXPECT_EQ(refusal("linear", {.rate = {50, 1s}, .duration = 1s}), "-pacer=linear needs -rate-to, the rate at the end");
  for (const std::optional<Nanos> duration :
       {std::optional<Nanos>{}, std::optional<Nanos>{0s}, std::optional<Nanos>{-1s}})
    EXPECT_EQ(refusal("linear", ramp(kNone, {5, 1s}, duration)),
              "-pacer=linear needs a -duration above 0, in which the rate gets to -rate-to");
  EXPECT_EQ(refusal("linear", ramp(kNone, kNone, 1s)), "-rate and -rate-to are both 0: nothing would be sent");
  EXPECT_EQ(refusal("linear", ramp({999'983, 1s}, {1, 1s}, kLongest)),
            "-rate=999983/1s to -rate-to=1/1s in 2562047h47m16.854775807s is too fine or too long to be exact: take "
            "rounder rates");
}

}  // namespace
}  // namespace pepe
