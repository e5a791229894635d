// Attacks that begin with a warm-up or at a given time, and attacks that share one schedule.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "e2e/pepe_binary.h"
#include "support/temp_dir.h"
#include "support/test_server.h"

namespace pepe {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Start, SharesTheScheduleAmongProcesses) {
  const TempDir dir;
  const TestServer server;
  std::vector<std::string> encode{"encode", "-to=csv"};
  for (const char* index : {"0", "1", "2"}) {
    Launch launch;
    launch.args = {"attack",    "-shard=auto/3", "-rate=100", "-duration=200ms", "-output=" + dir.path(index),
                   server.url()};
    launch.environment = {std::string{"JOB_COMPLETION_INDEX="} + index};
    const Ended ended = Process{kPepe, launch}.wait();
    EXPECT_EQ(ended.status, 0) << ended.err;
    encode.push_back(dir.path(index));
  }
  std::istringstream rows{run_pepe_binary(encode).out};
  std::set<int> numbers;
  std::string row;
  while (std::getline(rows, row)) {
    std::istringstream fields{row};
    std::string field;
    for (int i = 0; i < 9; ++i) std::getline(fields, field, ',');
    EXPECT_TRUE(numbers.insert(std::stoi(field)).second) << field;
  }
  EXPECT_EQ(numbers.size(), 20U);
  EXPECT_EQ(*numbers.rbegin(), 19);
}

TEST(Start, WarmsUpWithoutResults) {
  const TempDir dir;
  const TestServer server;
  const Ended ended = run_pepe_binary({"attack", "-warmup=1s", "-rate=100", "-duration=100ms", "-progress=on",
                                       "-output=" + dir.path("out"), server.url()});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, ContainsRegex("^starts in 1s  [0-9]+ in flight\n"));
  EXPECT_GT(server.requests().size(), 10U);
  EXPECT_LE(server.requests().size(), 110U);
  EXPECT_EQ(line_count(run_pepe_binary({"encode", "-to=csv", dir.path("out")}).out), 10U);
}

TEST(Start, OfARunThatIsStoppedInItsWarmUpLeavesAnEmptyResult) {
  for (const int signals : {1, 2}) {
    const TempDir dir;
    const TestServer server{[](const TestRequest&) { return TestAnswer{.delay = std::chrono::milliseconds{300}}; }};
    Launch launch;
    launch.args = {"attack",       "-warmup=1h",      "-rate=100",
                   "-duration=1h", "-max-workers=20", "-output=" + dir.path("out"),
                   server.url()};
    Process process{kPepe, launch};
    EXPECT_TRUE(server.wait_for_requests(3));
    for (int i = 0; i < signals; ++i) process.send_signal(i == 0 ? SIGINT : SIGTERM);
    const Ended ended = process.wait();
    EXPECT_EQ(ended.status, 0);
    EXPECT_THAT(ended.err, IsEmpty());
    const Ended report = run_pepe_binary({"report", "-type=json", dir.path("out")});
    EXPECT_THAT(report.out, HasSubstr(R"("requests":0,)"));
    EXPECT_THAT(report.out, HasSubstr(R"("missed":0,)"));
  }
}

TEST(Start, OfARunThatIsKilledInItsWarmUpLeavesItsFacts) {
  const TempDir dir;
  const TestServer server;
  Launch launch;
  launch.args = {"attack", "-warmup=1h", "-rate=100", "-duration=1h", "-output=" + dir.path("out"), server.url()};
  Process process{kPepe, launch};
  EXPECT_TRUE(server.wait_for_requests(3));
  process.send_signal(SIGKILL);
  EXPECT_EQ(process.wait().signal, SIGKILL);
  const Ended report = run_pepe_binary({"report", "-type=json", dir.path("out")});
  EXPECT_EQ(report.status, 0) << report.err;
  EXPECT_THAT(report.err, IsEmpty());
  EXPECT_THAT(report.out, HasSubstr(R"("requests":0,)"));
  EXPECT_THAT(report.out, HasSubstr(R"("error_counts":)")) << "it is a run of pepe's";
}

TEST(Start, OfARunThatIsStoppedBeforeItLeavesAnEmptyResult) {
  for (const char* load : {"-rate=10", "-rate=0"}) {
    SCOPED_TRACE(load);
    const TempDir dir;
    const TestServer server;
    int said[2];
    ASSERT_EQ(::pipe2(said, O_CLOEXEC), 0);
    Launch launch;
    launch.args = {"attack",
                   load,
                   "-warmup=1s",
                   "-duration=1s",
                   "-max-workers=2",
                   "-start-at=4000000000",
                   "-output=" + dir.path("out"),
                   server.url()};
    launch.error_descriptor = said[1];
    Process process{kPepe, launch};
    ::close(said[1]);
    char first = 0;
    EXPECT_EQ(::read(said[0], &first, 1), 1) << "it says that it waits";
    process.send_signal(SIGINT);
    EXPECT_EQ(process.wait().status, 0);
    ::close(said[0]);
    EXPECT_THAT(server.requests(), IsEmpty());
    const Ended report = run_pepe_binary({"report", "-type=json", dir.path("out")});
    EXPECT_THAT(report.out, HasSubstr(R"("requests":0,)"));
    EXPECT_THAT(report.out, HasSubstr(R"("missed":0,)"));
  }
}

TEST(Start, ThatHasPassedIsAnError) {
  const TestServer server;
  const Ended ended =
      run_pepe_binary({"attack", "-start-at=1000000000.5", "-duration=1s", "-output=/dev/null", server.url()});
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.err, ContainsRegex("-start-at=2001-09-0[89]T[0-9:]+\\.5[^ ]* was [0-9hms]+ ago\n$"));
  EXPECT_THAT(server.requests(), IsEmpty());
}

TEST(Start, AtATimeIsThatOfItsFirstResult) {
  const TempDir dir;
  const TestServer server;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const std::int64_t then = std::chrono::duration_cast<std::chrono::seconds>(now).count() + 3;
  const Ended ended = run_pepe_binary({"attack", "-start-at=" + std::to_string(then), "-rate=1", "-duration=1s",
                                       "-output=" + dir.path("out"), server.url()});
  EXPECT_EQ(ended.status, 0) << ended.err;
  std::istringstream row{run_pepe_binary({"encode", "-to=csv", dir.path("out")}).out};
  std::int64_t timestamp = 0;
  row >> timestamp;
  EXPECT_GE(timestamp, then * 1'000'000'000);
  EXPECT_LT(timestamp, (then + 30) * 1'000'000'000) << "a busy machine is late, but not so much";
}

TEST(Start, DoesNotUseUpALazyList) {
  const Ended ended = run_pepe_binary({"attack", "-lazy", "-warmup=1s"}, "GET http://127.0.0.1:1/\n");
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.err, HasSubstr("-warmup would use up the targets of a -lazy list"));
}

}  // namespace
}  // namespace pepe
