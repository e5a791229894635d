// Loads whose rate changes: what is sent when, and what is said of it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "e2e/pepe_binary.h"
#include "pepe/result/run_facts.h"
#include "pepe/result/stream.h"
#include "support/temp_dir.h"
#include "support/test_server.h"

namespace pepe {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// How many hits of a file were due in each quarter of a second, from the start on.
std::vector<int> due_in_quarters(std::string bytes) {
  std::int64_t start = 0;
  DecoderEvents events;
  events.facts = [&start](const RunFacts& facts) { start = facts.start.unix_nanos; };
  const auto read = [&bytes](std::span<char> buffer) -> Expected<std::size_t> {
    const std::size_t count = bytes.copy(buffer.data(), buffer.size());
    bytes.erase(0, count);
    return count;
  };
  const auto reader = open_results({"out", read}, std::move(events), {});
  if (!reader) {
    ADD_FAILURE() << reader.error().text();
    return {};
  }
  std::vector<int> quarters;
  for (auto next = (*reader)->next(); next && *next != nullptr; next = (*reader)->next()) {
    const Nanos due{(*next)->timestamp.unix_nanos - start - (*next)->lag.count()};
    EXPECT_GE(due, 0ns);
    const auto quarter = static_cast<std::size_t>(due / 250ms);
    if (quarter >= quarters.size()) quarters.resize(quarter + 1);
    ++quarters[quarter];
  }
  return quarters;
}

struct LoadCase {
  const char* name;
  std::vector<std::string> args;
  std::vector<int> quarters;  ///< Hits due in each.
  const char* facts;          ///< In the JSON report.
};

// Of a line from 0 to 400/s the integral is 12.5, 50, 112.5, 200; of the sine 81.8, 163.7, 181.8, 200.
const LoadCase kLoadCases[] = {
    {"Constant", {"-pacer=constant", "-rate=200", "-duration=1s"}, {50, 50, 50, 50}, R"("planned_rate":200,"busy)"},
    {"LinearUp",
     {"-pacer=linear", "-rate=0", "-rate-to=400", "-duration=1s"},
     {13, 37, 63, 87},
     R"("planned_rate":200,"pacer":"linear, 0/1s to 400/1s",)"},
    {"LinearDown",
     {"-pacer=linear", "-rate=400", "-rate-to=0", "-duration=1s"},
     {88, 62, 38, 12},
     R"("planned_rate":200,"pacer":"linear, 400/1s to 0/1s",)"},
    {"Sine",
     {"-pacer=sine", "-rate=200", "-amplitude=200", "-period=1s", "-duration=1s"},
     {82, 82, 18, 18},
     R"("planned_rate":200,"pacer":"sine, 200/1s and 200/1s up and down in 1s",)"},
    {"Step",
     {"-pacer=step", "-steps=100:250ms,0:250ms,400:500ms"},
     {25, 0, 100, 100},
     R"("planned_rate":225,"pacer":"step, 100/1s:250ms,0/1s:250ms,400/1s:500ms",)"},
    {"StepFromAPause", {"-pacer=step", "-steps=0:500ms,40:250ms"}, {0, 0, 10}, R"("pacer":"step, 0/1s:500ms,)"},
    {"StepHeld",
     {"-pacer=step", "-steps=40:250ms,80:250ms", "-duration=1s"},
     {10, 20, 20, 20},
     R"("planned_rate":70,)"},
    {"StepCut", {"-pacer=step", "-steps=40:250ms,80:1h", "-duration=500ms"}, {10, 20}, R"("planned_rate":60,)"},
};

TEST(Load, SendsEachHitWhereItsRateHasIt) {
  const TempDir dir;
  const TestServer server;
  std::vector<std::unique_ptr<Process>> attacks;
  for (const LoadCase& row : kLoadCases) {
    Launch launch;
    launch.args = row.args;
    launch.args.insert(launch.args.begin(), "attack");
    launch.args.insert(launch.args.end(), {"-output=" + dir.path(row.name), server.url()});
    attacks.push_back(std::make_unique<Process>(kPepe, launch));
  }
  for (std::size_t i = 0; i < attacks.size(); ++i) {
    const LoadCase& row = kLoadCases[i];
    SCOPED_TRACE(row.name);
    const Ended ended = attacks[i]->wait();
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_THAT(due_in_quarters(dir.read(row.name)), ElementsAreArray(row.quarters));
    EXPECT_THAT(run_pepe_binary({"report", "-type=json", dir.path(row.name)}).out, HasSubstr(row.facts));
  }
}

TEST(Load, IsSharedAmongProcesses) {
  const TempDir dir;
  const TestServer server;
  std::vector<int> sum(4);
  for (const char* part : {"0/2", "1/2"}) {
    const Ended ended = run_pepe_binary({"attack", "-pacer=linear", "-rate=0", "-rate-to=400", "-duration=1s", "-shard",
                                         part, "-output=" + dir.path("out"), server.url()});
    EXPECT_EQ(ended.status, 0) << ended.err;
    const std::vector<int> quarters = due_in_quarters(dir.read("out"));
    ASSERT_EQ(quarters.size(), sum.size());
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += quarters[i];
    EXPECT_THAT(run_pepe_binary({"report", "-type=json", dir.path("out")}).out, HasSubstr(R"("planned_rate":100,)"));
  }
  EXPECT_THAT(sum, testing::ElementsAre(13, 37, 63, 87));
}

TEST(Load, CountsWhatItMisses) {
  const TestServer server{[](const TestRequest&) { return TestAnswer{.delay = 500ms}; }};
  const Ended ended = run_pepe_binary(
      {"attack", "-pacer=step", "-steps=0:50ms,100:200ms", "-max-workers=1", "-output=/dev/null", server.url()});
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.err, HasSubstr("pepe: 19 hits missed: due, but not sent"));
  EXPECT_EQ(server.requests().size(), 1U);
}

TEST(Load, IsStoppedInAPauseAtOnce) {
  const TempDir dir;
  const TestServer server;
  Launch launch;
  launch.args = {"attack", "-pacer=step", "-steps=100:50ms,0:1h,1:1s", "-output=" + dir.path("out"), server.url()};
  Process process{kPepe, launch};
  EXPECT_TRUE(server.wait_for_requests(5));
  process.send_signal(SIGINT);
  const Ended ended = process.wait();
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.err, Not(HasSubstr("missed")));
  EXPECT_THAT(due_in_quarters(dir.read("out")), testing::ElementsAre(5));
}

TEST(Load, NamesTheFlagThatIsWrongInOneLine) {
  const TestServer server;
  const std::vector<std::string> rows[] = {
      {"-rate-to=5"},
      {"-pacer=linear", "-rate-to=5"},
      {"-pacer=sine", "-rate=5", "-amplitude=6", "-period=1s"},
      {"-pacer=step", "-steps=5:1s", "-rate=5"},
  };
  const char* const flags[] = {"-rate-to goes with -pacer=linear", "-pacer=linear needs a -duration",
                               "-amplitude=6/1s is more than -rate=5/1s", "-rate goes with -pacer=constant, linear"};
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    SCOPED_TRACE(flags[i]);
    std::vector<std::string> args = rows[i];
    args.insert(args.begin(), "attack");
    args.push_back(server.url());
    const Ended ended = run_pepe_binary(args);
    EXPECT_EQ(ended.status, 2);
    EXPECT_THAT(ended.out, IsEmpty());
    EXPECT_THAT(ended.err, testing::StartsWith(flags[i]));
    EXPECT_EQ(line_count(ended.err), 1U);
  }
  EXPECT_THAT(server.requests(), IsEmpty());
}

}  // namespace
}  // namespace pepe
