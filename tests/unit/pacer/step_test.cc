#include <chrono>

#include "schedule.h"

namespace pepe {
namespace {

using namespace std::chrono_literals;

LoadFlags stairs(const char* steps) {
  LoadFlags flags;
  auto parsed = parse_steps(steps);
  if (!parsed) ADD_FAILURE() << parsed.error().text();
  if (parsed) flags.steps = *std::move(parsed);
  return flags;
}

struct DueCase {
  const char* name;
  const char* steps;
  std::uint64_t hit;
  std::optional<Nanos> want;
};

constexpr DueCase kDueCases[] = {
    {"FirstHitAtOnce", "100:1s", 0, 0s},
    {"WithinTheFirst", "100:1s,10:1s", 99, 990ms},
    {"FirstOfTheSecond", "100:1s,10:1s", 100, 1s},
    {"WithinTheSecond", "100:1s,10:1s", 101, 1100ms},
    {"TheLastRateGoesOn", "100:1s,10:1s", 120, 3s},
    {"APauseHasNone", "100:1s,0:1s,100:1s", 100, 2s},
    {"BeforeAPause", "100:1s,0:1s,100:1s", 99, 990ms},
    {"AfterAPause", "100:1s,0:1s,100:1s", 101, 2010ms},
    {"TwoPauses", "100:1s,0:1s,0/5m:2s,100:1s", 100, 4s},
    {"APauseAtTheStart", "0:10s,100:1s", 0, 10s},
    {"APauseAtTheEnd", "100:1s,0:1s", 99, 990ms},
    {"NothingAfterThePauseAtTheEnd", "100:1s,0:1s", 100, std::nullopt},
    {"APartOfAHitIsCarriedOver", "1/3s:10s,3/10s:10s", 3, 9s},
    {"ToTheNextStep", "1/3s:10s,3/10s:10s", 4, 12'222'222'222ns},
    {"ManyShortSteps", "1:100ms,1:100ms,1:100ms,1:100ms", 1, 1s},
    {"UnitsThatDiffer", "60/1m:10s,1/250ms:1s,7/7s:1h", 14, 11s},
    {"SeveralInANanosecond", "2/1ns:1ns,1/1ns:1ns", 2, 1ns},
    {"LastInRange", "1/1ns:1ns", 9'223'372'036'854'775'807U, kLongest},
    {"OutOfRange", "1/1ns:1ns", 9'223'372'036'854'775'808U, std::nullopt},
    {"OutOfRangeByFar", "1/1h:1h", std::numeric_limits<std::uint64_t>::max(), std::nullopt},
};

TEST(StepPacer, GivesEachHitItsExactDueTime) {
  for (const DueCase& row : kDueCases) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(make_load("step", stairs(row.steps)).pacer->due(row.hit), row.want);
  }
}

struct CountCase {
  const char* name;
  const char* steps;
  Nanos before;
  std::uint64_t want;
};

constexpr CountCase kCountCases[] = {
    {"Nothing", "100:1s", 0s, 0},
    {"Negative", "100:1s", -1s, 0},
    {"TheFirst", "100:1s", 1ns, 1},
    {"AStep", "100:1s,10:1s", 1s, 100},
    {"TwoSteps", "100:1s,10:1s", 2s, 110},
    {"Beyond", "100:1s,10:1s", 3s, 120},
    {"InAPause", "100:1s,0:1s,100:1s", 1500ms, 100},
    {"AtTheEndOfAPause", "100:1s,0:1s,100:1s", 2s, 100},
    {"AfterAPause", "100:1s,0:1s,100:1s", 2s + 1ns, 101},
    {"InAPauseAtTheStart", "0:10s,100:1s", 10s, 0},
    {"InAPauseAtTheEnd", "100:1s,0:1s", kLongest, 100},
    {"APartOfAHitIsRoundedUp", "1/3s:10s,3/10s:10s", 10s, 4},
    {"OnlyOnce", "1/3s:10s,3/10s:10s", 20s, 7},
    {"ManyShortSteps", "1:100ms,1:100ms,1:100ms,1:100ms", 400ms, 1},
    {"Saturates", "9223372036854775807/1s:20s", 20s, std::numeric_limits<std::uint64_t>::max()},
};

TEST(StepPacer, CountsTheHitsOfADuration) {
  for (const CountCase& row : kCountCases) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(make_load("step", stairs(row.steps)).pacer->hits_before(row.before), row.want);
  }
}

TEST(StepPacer, LastsAsLongAsItsStepsUnlessItIsToldOtherwise) {
  LoadFlags flags = stairs("100:1s,0:500ms,10:2s");
  EXPECT_EQ(make_load("step", flags).duration, 3500ms);
  EXPECT_EQ(make_load("step", flags).rate, (Rate{120, 3500ms}));
  EXPECT_EQ(make_load("step", flags).shape, "step, 100/1s:1s,0/1s:500ms,10/1s:2s");
  flags.duration = 1s;
  EXPECT_EQ(make_load("step", flags).duration, 1s);
  EXPECT_EQ(make_load("step", flags).rate, (Rate{100, 1s}));
  flags.duration = 0s;
  EXPECT_EQ(make_load("step", flags).duration, 0s);
  EXPECT_EQ(make_load("step", flags).rate, (Rate{120, 3500ms}));
}

TEST(StepPacer, RefusesWhatItCannotSend) {
  EXPECT_EQ(refusal("step", {}), "-pacer=step needs -steps, such as -steps=100:10s,500:1m");
  EXPECT_EQ(refusal("step", stairs("0:1s,0:2s")), "-steps: without a rate above 0 nothing would be sent");
  LoadFlags cut = stairs("0:10s,5:1s");
  cut.duration = 10s;
  EXPECT_EQ(refusal("step", cut), "-duration=10s ends in a pause, before the first hit of -steps");
  EXPECT_EQ(refusal("step", stairs("1/1000000007ns:1s,1/1000000009ns:1s,1/998244353ns:1s")),
            "-steps: the rates have no common measure: write them in the same unit of time");
}

}  // namespace
}  // namespace pepe
