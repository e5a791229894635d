#include "cli/load_flags.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace pepe {
namespace {

using namespace std::chrono_literals;

/// The load of a command line. Error: the fault of a flag, or of all together.
Expected<Load> load_of(const std::vector<std::string>& args) {
  AttackFlags flags;
  FlagSet set{"pepe attack", "Attacks."};
  add_attack_flags(set, flags);
  const ParsedArguments parsed = set.parse(args);
  if (parsed.fault) return Error{*parsed.fault};
  return make_load(flags, parsed.given);
}

struct LoadCase {
  const char* name;
  std::vector<std::string> args;
  const char* shape;
  Rate rate;
  Nanos duration;
};

const LoadCase kLoadCases[] = {
    {"Default", {}, "", {50, 1s}, 0s},
    {"Constant", {"-pacer=constant", "-rate=7/3s", "-duration=5s"}, "", {7, 3s}, 5s},
    {"Unpaced", {"-rate=infinity"}, "", {0, 1s}, 0s},
    {"Linear",
     {"-pacer=linear", "-rate=100", "-rate-to=300", "-duration=10s"},
     "linear, 100/1s to 300/1s",
     {2000, 10s},
     10s},
    {"LinearFromTheDefault",
     {"-pacer=linear", "-rate-to=150", "-duration=1s"},
     "linear, 50/1s to 150/1s",
     {100, 1s},
     1s},
    {"LinearFromNothing",
     {"-rate=0", "-pacer=linear", "-rate-to=10", "-duration=1s"},
     "linear, 0/1s to 10/1s",
     {5, 1s},
     1s},
    {"LinearToNothing",
     {"-pacer=linear", "-rate=10", "-rate-to=0", "-duration=1s"},
     "linear, 10/1s to 0/1s",
     {5, 1s},
     1s},
    {"Sine",
     {"-pacer=sine", "-rate=100", "-amplitude=100", "-period=1m"},
     "sine, 100/1s and 100/1s up and down in 1m0s",
     {100, 1s},
     0s},
    {"Steps", {"-pacer=step", "-steps=10:1s,20:2s"}, "step, 10/1s:1s,20/1s:2s", {50, 3s}, 3s},
    {"StepsCut", {"-pacer=step", "-steps=10:1s,20:2s", "-duration=2s"}, "step, 10/1s:1s,20/1s:2s", {30, 2s}, 2s},
    {"StepsHeld", {"-pacer=step", "-steps=10:1s,20:2s", "-duration=4s"}, "step, 10/1s:1s,20/1s:2s", {70, 4s}, 4s},
    {"StepsWithoutEnd", {"-pacer=step", "-steps=10:1s,20:2s", "-duration=0"}, "step, 10/1s:1s,20/1s:2s", {50, 3s}, 0s},
    {"TheLastShapeWins", {"-pacer=step", "-pacer=constant", "-rate=5"}, "", {5, 1s}, 0s},
};

TEST(LoadFlags, MakeALoad) {
  for (const LoadCase& row : kLoadCases) {
    SCOPED_TRACE(row.name);
    const auto load = load_of(row.args);
    ASSERT_TRUE(load) << load.error().text();
    EXPECT_EQ(load->shape, row.shape);
    EXPECT_EQ(load->rate, row.rate);
    EXPECT_EQ(load->duration, row.duration);
  }
}

struct FaultCase {
  const char* name;
  std::vector<std::string> args;
  const char* error;
};

const FaultCase kFaultCases[] = {
    {"UnknownShape",
     {"-pacer=poisson"},
     "invalid value \"poisson\" for flag -pacer: want constant, linear, sine or step"},
    {"NoShape", {"-pacer="}, "invalid value \"\" for flag -pacer: want constant, linear, sine or step"},
    {"RateToOfAConstant", {"-rate-to=5"}, "-rate-to goes with -pacer=linear, not with -pacer=constant"},
    {"AmplitudeOfAConstant", {"-amplitude=5"}, "-amplitude goes with -pacer=sine, not with -pacer=constant"},
    {"PeriodOfALine",
     {"-pacer=linear", "-rate-to=5", "-duration=1s", "-period=1s"},
     "-period goes with -pacer=sine, not with -pacer=linear"},
    {"StepsOfASine", {"-steps=5:1s", "-pacer=sine"}, "-steps goes with -pacer=step, not with -pacer=sine"},
    {"RateOfSteps",
     {"-pacer=step", "-rate=5", "-steps=5:1s"},
     "-rate goes with -pacer=constant, linear or sine, not with -pacer=step"},
    {"LineWithoutAnEnd", {"-pacer=linear", "-duration=1s"}, "-pacer=linear needs -rate-to, the rate at the end"},
    {"LineWithoutADuration",
     {"-pacer=linear", "-rate-to=5"},
     "-pacer=linear needs a -duration above 0, in which the rate gets to -rate-to"},
    {"LineOfNothing",
     {"-pacer=linear", "-rate=0", "-rate-to=0/1m", "-duration=1s"},
     "-rate and -rate-to are both 0: nothing would be sent"},
    {"LineFromAnywhere",
     {"-pacer=linear", "-rate=infinity", "-rate-to=5", "-duration=1s"},
     "-rate: \"infinity\" has no bound: only -pacer=constant can go as fast as -max-workers allow"},
    {"LineToAnywhere",
     {"-pacer=linear", "-rate-to=infinity", "-duration=1s"},
     "invalid value \"infinity\" for flag -rate-to: \"infinity\" has no bound: only -pacer=constant can go as fast as "
     "-max-workers allow"},
    {"LineFromHitsInNoTime",
     {"-pacer=linear", "-rate=5/0s", "-rate-to=5", "-duration=1s"},
     "-rate: \"5/0s\" has no bound: only -pacer=constant can go as fast as -max-workers allow"},
    {"LineBelowNothing",
     {"-pacer=linear", "-rate-to=-5", "-duration=1s"},
     "invalid value \"-5\" for flag -rate-to: a rate can't be negative"},
    {"SineWithoutAnAmplitude",
     {"-pacer=sine", "-period=1s"},
     "-pacer=sine needs -amplitude, how far the rate goes up and down from -rate"},
    {"SineWithoutAPeriod",
     {"-pacer=sine", "-amplitude=5"},
     "-pacer=sine needs a -period above 0, the time from one peak to the next"},
    {"SineBelowNothing",
     {"-pacer=sine", "-amplitude=51", "-period=1s"},
     "-amplitude=51/1s is more than -rate=50/1s: the rate would go below 0"},
    {"SineAroundNothing",
     {"-pacer=sine", "-rate=0", "-amplitude=0", "-period=1s"},
     "-rate=0 leaves -pacer=sine nothing to go up and down from"},
    {"PeriodWithoutAUnit",
     {"-pacer=sine", "-period=5"},
     "invalid value \"5\" for flag -period: time: missing unit in duration \"5\""},
    {"StepWithoutSteps", {"-pacer=step"}, "-pacer=step needs -steps, such as -steps=100:10s,500:1m"},
    {"StepsThatAreNone",
     {"-pacer=step", "-steps=5:1s,5"},
     "invalid value \"5:1s,5\" for flag -steps: step 2, \"5\": want RATE:DURATION, such as 500:1m"},
    {"StepsOfNothing", {"-pacer=step", "-steps=0:1s"}, "-steps: without a rate above 0 nothing would be sent"},
};

TEST(LoadFlags, NameWhatDoesNotGoTogether) {
  for (const FaultCase& row : kFaultCases) {
    SCOPED_TRACE(row.name);
    const auto load = load_of(row.args);
    EXPECT_EQ(load ? "" : load.error().text(), row.error);
  }
}

}  // namespace
}  // namespace pepe
