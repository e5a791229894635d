#include "cli/flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/flag_values.h"

namespace pepe {
namespace {

using testing::HasSubstr;
using testing::Not;

/// A set with a flag of each kind.
struct Sample {
  std::string output{"stdout"};
  bool lazy{false};
  bool keepalive{true};
  Nanos timeout{0};
  std::int64_t redirects{10};
  std::uint64_t workers{10};
  std::vector<HeaderField> headers;
  FlagSet set{"pepe sample [flags]", "Does nothing."};

  Sample() {
    set.begin_group("Files");
    set.add_string({"output", "FILE", "where it goes", "stdout"}, output);
    set.begin_group("Rest");
    set.add_bool("lazy", lazy, "read late");
    set.add_bool("keepalive", keepalive, "use again");
    set.add_duration({"timeout", "D", "how long"}, timeout);
    set.add_int({"redirects", "N", "how far", "10"}, redirects);
    set.add_uint({"workers", "N", "how many", "10"}, workers);
    set.add({"header", "'K: V'", "secret", "", true}, [this](std::string_view text) -> Expected<void> {
      auto field = parse_header(text);
      if (!field) return std::move(field).error();
      headers.push_back(*std::move(field));
      return {};
    });
  }

  ParsedArguments parse(std::vector<std::string> args) { return set.parse(args); }
};

TEST(FlagSet, SetsWhatTheFlagsSay) {
  Sample sample;
  const auto parsed = sample.parse({"-output", "a b", "--lazy", "-keepalive=0", "-timeout=1.5s", "-redirects=-1",
                                    "-workers=0x10", "-header=A: 1", "-header", "B: 2", "word", "-lazy"});
  EXPECT_EQ(parsed.fault, std::nullopt);
  EXPECT_EQ(parsed.words, (std::vector<std::string>{"word", "-lazy"}));
  EXPECT_EQ(sample.output, "a b");
  EXPECT_TRUE(sample.lazy);
  EXPECT_FALSE(sample.keepalive);
  EXPECT_EQ(sample.timeout, std::chrono::milliseconds{1500});
  EXPECT_EQ(sample.redirects, -1);
  EXPECT_EQ(sample.workers, 16U);
  EXPECT_EQ(sample.headers, (std::vector<HeaderField>{{"A", "1"}, {"B", "2"}}));
}

TEST(FlagSet, TakesAnyValueAsItIs) {
  for (const char* value : {"", "-", "--", "-lazy", "[a,b]", "{}", "a=b", "%%", "\"q\"", "++", "a\nb"}) {
    SCOPED_TRACE(value);
    Sample sample;
    EXPECT_EQ(sample.parse({"-output", value}).fault, std::nullopt);
    EXPECT_EQ(sample.output, value);
    EXPECT_EQ(sample.parse({std::string{"-output="} + value}).fault, std::nullopt);
    EXPECT_EQ(sample.output, value);
  }
}

TEST(FlagSet, LetsTheLastValueWin) {
  Sample sample;
  EXPECT_EQ(sample.parse({"-redirects=1", "-redirects=2"}).fault, std::nullopt);
  EXPECT_EQ(sample.redirects, 2);
}

struct FaultCase {
  const char* name;
  std::vector<std::string> args;
  const char* fault;
};

const FaultCase kFaultCases[] = {
    {"Undeclared", {"-x"}, "flag provided but not defined: -x"},
    {"Boolean", {"-lazy=yes"}, "invalid boolean value \"yes\" for -lazy: parse error"},
    {"BooleanEmpty", {"-lazy="}, "invalid boolean value \"\" for -lazy: parse error"},
    {"Integer", {"-redirects", "x\n"}, "invalid value \"x\\n\" for flag -redirects: parse error"},
    {"OutOfRange",
     {"-workers=99999999999999999999"},
     "invalid value \"99999999999999999999\" for flag -workers: value out of range"},
    {"NegativeCount", {"-workers=-1"}, "invalid value \"-1\" for flag -workers: parse error"},
    {"Header", {"-header=Name value"}, "invalid value \"Name\" for flag -header: want \"Name: value\""},
    {"HeaderWithoutColon", {"-header=nocolon"}, "invalid value \"nocolon\" for flag -header: want \"Name: value\""},
    {"HeaderWithoutName", {"-header=dmFsdWU="}, "invalid value \"***\" for flag -header: want \"Name: value\""},
    {"EarlierValueFirst", {"-redirects=x", "-redirects=1"}, "invalid value \"x\" for flag -redirects: parse error"},
    {"FirstFaultFirst", {"-redirects=x", "-x"}, "invalid value \"x\" for flag -redirects: parse error"},
    {"FaultBeforeHelp", {"-redirects=x", "-h"}, "invalid value \"x\" for flag -redirects: parse error"},
};

TEST(FlagSet, NamesTheFirstFault) {
  for (const FaultCase& row : kFaultCases) {
    SCOPED_TRACE(row.name);
    Sample sample;
    EXPECT_EQ(sample.parse(row.args).fault, row.fault);
  }
}

TEST(FlagSet, SaysThatAUnitIsMissing) {
  Sample sample;
  const auto parsed = sample.parse({"-timeout=5"});
  ASSERT_NE(parsed.fault, std::nullopt);
  EXPECT_THAT(*parsed.fault, HasSubstr("invalid value \"5\" for flag -timeout: parse error"));
  EXPECT_THAT(*parsed.fault, HasSubstr("unit"));
}

TEST(FlagSet, NeverShowsASecret) {
  Sample sample;
  EXPECT_THAT(*sample.parse({"-header=Authorization hush"}).fault, Not(HasSubstr("hush")));
  const auto parsed = sample.parse({"-header=Authorization: hush", "-lazy"});
  EXPECT_EQ(parsed.given, (std::vector<GivenFlag>{{"header", ""}, {"lazy", "true"}}));
}

TEST(FlagSet, AnswersHelp) {
  Sample sample;
  EXPECT_TRUE(sample.parse({"-h"}).help);
  EXPECT_TRUE(sample.parse({"--help"}).help);
  EXPECT_FALSE(sample.parse({}).help);
}

TEST(FlagSet, ExplainsEveryFlagUnderItsGroup) {
  const Sample sample;
  EXPECT_EQ(sample.set.usage(),
            "Usage: pepe sample [flags]\n"
            "\n"
            "Does nothing.\n"
            "\n"
            "Files:\n"
            "  -output FILE              where it goes (default: stdout)\n"
            "\n"
            "Rest:\n"
            "  -lazy                     read late\n"
            "  -keepalive                use again (default: true)\n"
            "  -timeout D                how long\n"
            "  -redirects N              how far (default: 10)\n"
            "  -workers N                how many (default: 10)\n"
            "  -header 'K: V'            secret\n");
}

}  // namespace
}  // namespace pepe
