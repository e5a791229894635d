#include "cli/go_flags.h"

#include <gtest/gtest.h>

namespace pepe {
namespace {

FlagKind kind_of(std::string_view name) {
  if (name == "on") return FlagKind::kBoolean;
  if (name == "rate" || name == "output") return FlagKind::kValue;
  return FlagKind::kUndeclared;
}

using Args = std::vector<std::string>;
using Flags = std::vector<GivenFlag>;

struct SplitCase {
  const char* name;
  Args args;
  Flags flags;
  std::size_t used;
};

const SplitCase kSplitCases[] = {
    {"Nothing", {}, {}, 0},
    {"ValueJoined", {"-rate=5"}, {{"rate", "5"}}, 1},
    {"ValueNext", {"-rate", "5"}, {{"rate", "5"}}, 2},
    {"TwoDashes", {"--rate", "5", "--on"}, {{"rate", "5"}, {"on", "true"}}, 3},
    {"ValueMayLookLikeAFlag", {"-output", "-rate"}, {{"output", "-rate"}}, 2},
    {"ValueMayBeDashDash", {"-output", "--"}, {{"output", "--"}}, 2},
    {"ValueMayBeEmpty", {"-output="}, {{"output", ""}}, 1},
    {"ValueMayHoldEqualsSigns", {"-output=a=b"}, {{"output", "a=b"}}, 1},
    {"BooleanTakesNoNextArgument", {"-on", "false", "-rate=5"}, {{"on", "true"}}, 1},
    {"BooleanTakesAJoinedValue", {"-on=false"}, {{"on", "false"}}, 1},
    {"WordsEndTheFlags", {"-rate=5", "word", "-on"}, {{"rate", "5"}}, 1},
    {"ALoneDashIsAWord", {"-", "-on"}, {}, 0},
    {"AnEmptyArgumentIsAWord", {"", "-on"}, {}, 0},
    {"DashDashEndsTheFlags", {"-on", "--", "-rate=5"}, {{"on", "true"}}, 2},
    {"RepeatsAreKept", {"-rate=1", "-rate=2"}, {{"rate", "1"}, {"rate", "2"}}, 2},
};

TEST(GoFlags, AreTakenFromTheFront) {
  for (const SplitCase& row : kSplitCases) {
    SCOPED_TRACE(row.name);
    const GoFlags split = split_go_flags(row.args, kind_of);
    EXPECT_EQ(split.fault, std::nullopt);
    EXPECT_FALSE(split.help);
    EXPECT_EQ(split.flags, row.flags);
    EXPECT_EQ(split.used, row.used);
  }
}

struct FaultCase {
  const char* name;
  Args args;
  const char* fault;
};

const FaultCase kFaultCases[] = {
    {"Undeclared", {"-x"}, "flag provided but not defined: -x"},
    {"UndeclaredWithTwoDashes", {"--x=1"}, "flag provided but not defined: -x"},
    {"NoAbbreviations", {"-rat=1"}, "flag provided but not defined: -rat"},
    {"NamesAreCaseSensitive", {"-Rate=1"}, "flag provided but not defined: -Rate"},
    {"NoBundling", {"-onrate"}, "flag provided but not defined: -onrate"},
    {"ValueMissing", {"-rate"}, "flag needs an argument: -rate"},
    {"ThreeDashes", {"---rate=1"}, "bad flag syntax: ---rate=1"},
    {"DashEquals", {"-=1"}, "bad flag syntax: -=1"},
    {"DashDashEquals", {"--=1"}, "bad flag syntax: --=1"},
};

TEST(GoFlags, NameTheirFaultsAsGoDoes) {
  for (const FaultCase& row : kFaultCases) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(split_go_flags(row.args, kind_of).fault, row.fault);
  }
}

TEST(GoFlags, KeepWhatStandsBeforeAFault) {
  const Args args{"-rate=5", "-x"};
  EXPECT_EQ(split_go_flags(args, kind_of).flags, (Flags{{"rate", "5"}}));
}

TEST(GoFlags, TellHelpFromAFault) {
  for (const Args& args : {Args{"-h"}, Args{"--help"}, Args{"-rate=5", "-help", "-x"}}) {
    const GoFlags split = split_go_flags(args, kind_of);
    EXPECT_TRUE(split.help);
    EXPECT_EQ(split.fault, std::nullopt);
  }
}

}  // namespace
}  // namespace pepe
