#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "e2e/pepe_binary.h"
#include "support/temp_dir.h"

namespace pepe {
namespace {

using testing::ContainsRegex;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

/// The date that stands before a failure.
constexpr const char* kDate = "^[0-9]{4}/[0-9]{2}/[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2} ";

struct StatusCase {
  const char* name;
  std::vector<std::string> args;
  int status;
  const char* err;  ///< A part of standard error.
};

const StatusCase kStatusCases[] = {
    {"NoArguments", {}, 1, "Usage: pepe"},
    {"Help", {"-h"}, 0, "Usage: pepe"},
    {"LongHelp", {"--help"}, 0, "Usage: pepe"},
    {"CommandHelp", {"attack", "-h"}, 0, "-max-workers"},
    {"ReportHelp", {"report", "--help"}, 0, "-every"},
    {"HelpIsNoCommand", {"help"}, 1, "Unknown command: help"},
    {"EmptyWord", {""}, 1, "Unknown command: "},
    {"Dump", {"dump"}, 1, "encode"},
    {"UnknownGlobalFlag", {"-bogus"}, 2, "flag provided but not defined: -bogus"},
    {"BadGlobalValue", {"-cpus=x", "report"}, 2, "invalid value \"x\" for flag -cpus: parse error"},
    {"MissingValue", {"encode", "-output"}, 2, "flag needs an argument: -output"},
    {"ThreeDashes", {"attack", "---rate=1"}, 2, "bad flag syntax: ---rate=1"},
    {"ReportType", {"report", "-type=bogus"}, 1, "unknown report type: \"bogus\""},
    {"ShortReportType", {"report", "-type=abc"}, 1, "invalid report type: abc"},
    {"Encoding", {"encode", "-to=xml"}, 1, "encode: unknown encoding \"xml\""},
    {"TargetFormat", {"attack", "-format=xml"}, 1, "format \"xml\" isn't one of [http, json]"},
    {"TargetFormatBesideUrls",
     {"attack", "-format=xml", "-duration=1ms", "http://127.0.0.1:1/"},
     1,
     "format \"xml\" isn't one of [http, json]"},
    {"Uncapped", {"attack", "-rate=0", "-targets=nosuch"}, 1, "-rate=0 requires setting -max-workers"},
    {"MissingTargets",
     {"attack", "-targets=nosuch"},
     1,
     "error opening nosuch: open nosuch: no such file or directory"},
    {"EmptyTargetsName", {"attack", "-targets="}, 1, "error opening : open : no such file or directory"},
    {"NoTargets", {"attack"}, 1, "no targets to attack"},
    {"NoLazyTargets", {"attack", "-lazy", "-duration=1s", "-output=/dev/null"}, 1, "no targets to attack"},
    {"MissingBody",
     {"attack", "-body=nosuch", "http://h/"},
     1,
     "error opening nosuch: open nosuch: no such file or dir"},
    {"MissingFolder", {"attack", "-output=no/x", "http://h/"}, 1, "error opening no/x: open no/x: no such file or dir"},
    {"MissingResults", {"report", "nosuch"}, 1, " open nosuch: no such file or directory\n"},
    {"MissingResultsToEncode", {"encode", "nosuch"}, 1, " open nosuch: no such file or directory\n"},
    {"EmptyResults", {"report"}, 1, "encode: can't detect encoding of \"stdin\""},
    {"FlagBehindAUrl", {"attack", "http://127.0.0.1:1/", "-duration=1s"}, 2, "the first URL: -duration\n"},
};

TEST(CommandLine, EndsWithTheRightStatusAndASay) {
  for (const StatusCase& row : kStatusCases) {
    SCOPED_TRACE(row.name);
    const Ended ended = run_pepe_binary(row.args);
    EXPECT_EQ(ended.status, row.status);
    EXPECT_THAT(ended.out, IsEmpty());
    EXPECT_THAT(ended.err, HasSubstr(row.err));
  }
}

TEST(CommandLine, DatesFailuresButNotFlagFaults) {
  EXPECT_THAT(run_pepe_binary({"bogus"}).err, ContainsRegex(kDate));
  EXPECT_THAT(run_pepe_binary({"-bogus"}).err, Not(ContainsRegex(kDate)));
}

TEST(CommandLine, PutsAFaultAboveAndBelowTheUsage) {
  const Ended ended = run_pepe_binary({"attack", "-rat=4"});
  EXPECT_THAT(ended.err, StartsWith("flag provided but not defined: -rat\nUsage: pepe attack"));
  EXPECT_THAT(ended.err, EndsWith("\n\nflag provided but not defined: -rat\n"));
}

TEST(CommandLine, PrintsItsVersionInFourLines) {
  for (const auto& args : {std::vector<std::string>{"-version"}, {"--version", "attack"}}) {
    const Ended ended = run_pepe_binary(args);
    EXPECT_EQ(ended.status, 0);
    EXPECT_THAT(ended.err, IsEmpty());
    EXPECT_THAT(ended.out, ContainsRegex("^Version: .+\nCommit: .+\nRuntime: .+\nDate: .+\n$"));
  }
}

TEST(CommandLine, TouchesNoOutputBeforeItsFlagsAreRight) {
  const TempDir dir;
  const std::string output = "-output=" + dir.write("out", "keep");
  for (const auto& args : {std::vector<std::string>{"report", "-type=bogus", output, "nosuch"},
                           {"encode", "-to=xml", output, "nosuch"},
                           {"encode", output, "nosuch"},
                           {"plot", output, "nosuch"},
                           {"attack", output, "-targets=nosuch"}}) {
    EXPECT_EQ(run_pepe_binary(args).status, 1) << args[0];
    EXPECT_EQ(dir.read("out"), "keep") << args[0];
  }
}

TEST(CommandLine, HasAPageThatExplainsEveryFlag) {
  std::ifstream file{std::string{PEPE_SOURCE_DIR} + "/docs/cli.md"};
  const std::string page{std::istreambuf_iterator<char>{file}, {}};
  for (const auto& args :
       {std::vector<std::string>{"-h"}, {"attack", "-h"}, {"report", "-h"}, {"plot", "-h"}, {"encode", "-h"}}) {
    const auto flags = declared_flags(run_pepe_binary(args).err);
    EXPECT_GE(flags.size(), 2U) << args[0];
    for (const std::string& flag : flags) EXPECT_THAT(page, ContainsRegex("\\| `" + flag + "[ `]")) << args[0];
  }
}

TEST(CommandLine, NeverShowsAHeaderValue) {
  const Ended ended = run_pepe_binary({"attack", "-header=Authorization hush"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, Not(HasSubstr("hush")));
}

TEST(CommandLine, EscapesWhatCouldDriveATerminal) {
  EXPECT_THAT(run_pepe_binary({"\x1b[2J"}).err, HasSubstr("Unknown command: \\x1b[2J\n"));
}

}  // namespace
}  // namespace pepe
