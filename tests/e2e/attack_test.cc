#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "e2e/pepe_binary.h"
#include "support/temp_dir.h"
#include "support/test_server.h"

namespace pepe {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// The results of a file, as CSV.
std::string results_of(const std::string& file) {
  const Ended ended = run_pepe_binary({"encode", "-to=csv", file});
  EXPECT_EQ(ended.status, 0) << ended.err;
  return ended.out;
}

TEST(Attack, SendsEveryHitAndKeepsEveryResult) {
  const TempDir dir;
  const TestServer server;
  const Ended ended = run_pepe_binary({"attack", "-rate=100", "-duration=200ms", "-output=" + dir.path("out")},
                                      "GET " + server.url("/a") + "\nGET " + server.url("/b") + "\n");
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.out, IsEmpty());
  EXPECT_EQ(server.requests().size(), 20U);
  EXPECT_EQ(line_count(results_of(dir.path("out"))), 20U);
}

TEST(Attack, EndsThoughTheBodyOfALazyTargetIsNeverWritten) {
  const TempDir dir;
  const std::string pipe = dir.path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const Ended ended = run_pepe_binary({"attack", "-lazy", "-rate=100", "-duration=50ms", "-output=/dev/null"},
                                      "PUT http://h/\n@" + pipe);
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.err, HasSubstr("5 hits missed: due, but not sent, since the list of targets came too slowly"));
}

TEST(Attack, TakesUrlsForTargets) {
  const TestServer server;
  const Ended ended = run_pepe_binary(
      {"attack", "-rate=20", "-duration=100ms", "-output=/dev/null", server.url("/a"), server.url("/b")});
  EXPECT_EQ(ended.status, 0) << ended.err;
  const auto requests = server.requests();
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[0].target + requests[1].target, "/a/b");
}

TEST(Attack, NamesTheWordsThatItIgnores) {
  const TestServer server;
  const Ended ended = run_pepe_binary({"attack", "-rate=20", "-duration=100ms", "-output=/dev/null", "surplus", "-x"},
                                      "GET " + server.url() + "\n");
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.err, HasSubstr("surplus"));
  EXPECT_EQ(server.requests().size(), 2U);
}

TEST(Attack, ReadsABodyFromStandardInput) {
  const TempDir dir;
  const TestServer server;
  const std::string targets = dir.write("targets", "POST " + server.url() + "\n");
  const Ended ended = run_pepe_binary(
      {"attack", "-rate=10", "-duration=100ms", "-output=/dev/null", "-body=stdin", "-targets=" + targets}, "a body");
  EXPECT_EQ(ended.status, 0) << ended.err;
  ASSERT_EQ(server.requests().size(), 1U);
  EXPECT_EQ(server.requests()[0].body, "a body");
}

TEST(Attack, WritesAnyEncoding) {
  const TestServer server;
  for (const char* encoding : {"json", "csv", "gob", "msgpack"}) {
    SCOPED_TRACE(encoding);
    const Ended attack =
        run_pepe_binary({"attack", "-rate=50", "-duration=100ms", std::string{"-encoding="} + encoding, server.url()});
    EXPECT_EQ(attack.status, 0) << attack.err;
    const Ended report = run_pepe_binary({"report"}, attack.out);
    EXPECT_EQ(report.status, 0) << report.err;
    EXPECT_THAT(report.out, HasSubstr("200:5  \n"));
  }
  const Ended unknown = run_pepe_binary({"attack", "-encoding=xml", server.url()});
  EXPECT_EQ(unknown.status, 1);
  EXPECT_THAT(unknown.err, HasSubstr("unknown encoding \"xml\""));
}

TEST(Attack, SaysHowManyHitsFailed) {
  const TestServer server{[](const TestRequest&) { return TestAnswer{.status = 500, .reason = "Oops"}; }};
  const Ended ended = run_pepe_binary({"attack", "-rate=20", "-duration=100ms", "-output=/dev/null", server.url()});
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.err, HasSubstr("pepe: 2 of 2 hits failed\n"));
}

TEST(Attack, SaysThatANegativeDurationHasNoEnd) {
  const TestServer server;
  Launch launch;
  launch.args = {"attack", "-duration=-1s", "-rate=100", "-output=/dev/null", server.url()};
  Process process{kPepe, launch};
  EXPECT_TRUE(server.wait_for_requests(3));
  process.send_signal(SIGINT);
  const Ended ended = process.wait();
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.err, HasSubstr("-duration=-1s"));
}

TEST(Attack, KeepsWhichProtocolWasSpoken) {
  const TempDir dir;
  const TestServer server;
  for (const std::string& target : {server.url(), std::string{"http://127.0.0.1:1/"}}) {
    const std::string file = dir.path(target == server.url() ? "answered" : "refused");
    EXPECT_EQ(run_pepe_binary({"attack", "-rate=100", "-duration=50ms", "-output=" + file, target}).status, 0);
  }
  const Ended report =
      run_pepe_binary({"report", "-group-by=protocol", "-type=json", dir.path("answered"), dir.path("refused")});
  EXPECT_THAT(report.out, ContainsRegex(R"("group":"HTTP/1.1".*"requests":5,)"));
  EXPECT_THAT(report.out, ContainsRegex(R"("group":"none".*"requests":5,)"));
}

TEST(Attack, KeepsSecretsOutOfItsResults) {
  const TempDir dir;
  const TestServer server;
  const Ended ended = run_pepe_binary({"attack", "-rate=10", "-duration=100ms", "-header=Authorization: hush",
                                       "-output=" + dir.path("out"), server.url()});
  EXPECT_EQ(ended.status, 0) << ended.err;
  ASSERT_EQ(server.requests().size(), 1U);
  EXPECT_EQ(server.requests()[0].header("Authorization"), "hush");
  EXPECT_THAT(dir.read("out"), Not(HasSubstr("hush")));
  EXPECT_THAT(dir.read("out"), HasSubstr("-header"));
}

TEST(Attack, FeedsAReportThroughAPipe) {
  const TestServer server;
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  Launch attack;
  attack.args = {"attack", "-rate=100", "-duration=200ms", server.url()};
  attack.output_descriptor = ends[1];
  Launch report;
  report.args = {"report"};
  report.input_descriptor = ends[0];
  Process writer{kPepe, attack};
  Process reader{kPepe, report};
  for (const int end : ends) ::close(end);
  EXPECT_EQ(writer.wait().status, 0);
  const Ended ended = reader.wait();
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("200:20  \n"));
}

TEST(Attack, EndsCleanlyOnASignal) {
  for (const int signal : {SIGINT, SIGTERM}) {
    SCOPED_TRACE(signal);
    const TempDir dir;
    const TestServer server;
    Launch launch;
    launch.args = {"attack", "-rate=100", "-output=" + dir.path("out"), server.url()};
    Process process{kPepe, launch};
    EXPECT_TRUE(server.wait_for_requests(5));
    process.send_signal(signal);
    const Ended ended = process.wait();
    EXPECT_EQ(ended.status, 0);
    EXPECT_EQ(line_count(results_of(dir.path("out"))), server.requests().size());
  }
}

// Two hundred and ninety years, and what the clock shows already.
TEST(Attack, WaitsForWhatIsDueBeyondTheEndOfTheClock) {
  const std::vector<std::string> rows[] = {
      {"-rate=1/2562047h"},
      {"-rate=1/2562047h", "-max-workers=1", "-duration=2562047h47m"},
      {"-rate=0", "-max-workers=1", "-duration=2562047h47m"},
      {"-rate=1/1h", "-timeout=2562047h47m"},
  };
  for (const std::vector<std::string>& row : rows) {
    SCOPED_TRACE(testing::PrintToString(row));
    const TempDir dir;
    const TestServer server{[](const TestRequest&) { return TestAnswer{.delay = std::chrono::milliseconds{50}}; }};
    Launch launch;
    launch.args = {"attack", "-output=" + dir.path("out"), server.url()};
    launch.args.insert(launch.args.begin() + 1, row.begin(), row.end());
    Process process{kPepe, launch};
    EXPECT_TRUE(server.wait_for_requests(1));
    process.send_signal(SIGINT);
    const Ended ended = process.wait();
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_EQ(line_count(results_of(dir.path("out"))), 1U);
  }
}

TEST(Attack, EndsAtOnceOnTheSecondSignal) {
  const TempDir dir;
  const TestServer server{[](const TestRequest&) { return TestAnswer{.delay = std::chrono::minutes{2}}; }};
  Launch launch;
  launch.args = {"attack", "-rate=100", "-timeout=1m", "-output=" + dir.path("out"), server.url()};
  Process process{kPepe, launch};
  EXPECT_TRUE(server.wait_for_requests(2));
  process.send_signal(SIGINT);
  process.send_signal(SIGTERM);
  const Ended ended = process.wait();
  EXPECT_EQ(ended.status, 0);
  // What was in flight has its results too.
  const std::string results = results_of(dir.path("out"));
  EXPECT_GE(line_count(results), server.requests().size());
  EXPECT_THAT(results, HasSubstr(": context canceled"));
  EXPECT_THAT(ended.err, HasSubstr(" hits failed"));
}

TEST(Attack, KeepsItsRemarksOutOfResultsThatShareAFile) {
  const TempDir dir;
  Launch launch;
  launch.args = {"attack", "-rate=100", "-duration=50ms", "-progress=on", "http://127.0.0.1:1/"};
  launch.output_descriptor = ::open(dir.path("out").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  launch.error_descriptor = launch.output_descriptor;
  EXPECT_EQ(Process(kPepe, launch).wait().status, 0);
  ::close(launch.output_descriptor);
  const Ended report = run_pepe_binary({"report", "-type=json", dir.path("out")});
  EXPECT_EQ(report.status, 0);
  EXPECT_THAT(report.err, IsEmpty());
  EXPECT_THAT(report.out, HasSubstr("\"requests\":5,"));
}

TEST(Attack, LeavesReadableResultsWhenItIsKilled) {
  const TempDir dir;
  const TestServer server;
  Launch launch;
  launch.args = {"attack", "-rate=200", "-output=" + dir.path("out"), server.url()};
  Process process{kPepe, launch};
  EXPECT_TRUE(server.wait_for_requests(200));
  process.send_signal(SIGKILL);
  EXPECT_EQ(process.wait().signal, SIGKILL);
  const Ended ended = run_pepe_binary({"encode", "-to=csv", dir.path("out")});
  // All but what the last quarter of a second gave, and as much again for a busy machine.
  EXPECT_GE(line_count(ended.out), 100U);
}

TEST(Attack, EndsWhenTheDeviceIsFull) {
  const TestServer server;
  const Ended ended = run_pepe_binary({"attack", "-rate=50", "-output=/dev/full", server.url()});
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.err, HasSubstr("write /dev/full: no space left on device"));
  EXPECT_FALSE(server.requests().empty()) << "it is the results that find no room";
}

TEST(Attack, EndsWithItsReader) {
  const TestServer server;
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  Launch launch;
  launch.args = {"attack", "-rate=50", server.url()};
  launch.output_descriptor = ends[1];
  Process process{kPepe, launch};
  ::close(ends[1]);
  EXPECT_TRUE(server.wait_for_requests(1));
  ::close(ends[0]);
  const Ended ended = process.wait();
  EXPECT_EQ(ended.signal, SIGPIPE);
  EXPECT_THAT(ended.err, IsEmpty());
}

TEST(Attack, SendsNothingWhereItsOutputCannotBeOpened) {
  const TempDir dir;
  const TestServer server;
  Launch closed;
  closed.args = {"attack", "-rate=50", "-duration=100ms", server.url()};
  closed.output_closed = true;
  EXPECT_EQ((Process{kPepe, closed}.wait().status), 1);
  EXPECT_EQ(run_pepe_binary({"attack", "-duration=100ms", "-output=" + dir.path("no/out"), server.url()}).status, 1);
  EXPECT_THAT(server.requests(), IsEmpty());
}

TEST(Attack, RefusesToWriteOverWhatItReads) {
  const TempDir dir;
  const TestServer server;
  const std::string targets = dir.write("targets", "PUT " + server.url() + "\n@" + dir.path("body") + "\n");
  dir.write("body", "of a target");
  dir.write("flag", "of all targets");
  dir.write("key", "no key");
  for (const char* file : {"targets", "body", "flag", "key"}) {
    for (const char* lazy : {"-lazy=false", "-lazy"}) {
      SCOPED_TRACE(file + std::string{lazy});
      const std::string before = dir.read(file);
      const Ended ended =
          run_pepe_binary({"attack", "-duration=100ms", "-targets=" + targets, "-body=" + dir.path("flag"),
                           "-key=" + dir.path("key"), "-output=" + dir.path(file), lazy});
      EXPECT_EQ(ended.status, 1);
      EXPECT_THAT(ended.err, HasSubstr(": it is one of the inputs as well"));
      EXPECT_EQ(dir.read(file), before);
    }
  }
  EXPECT_THAT(server.requests(), IsEmpty());
}

/// The binary under a limit of the shell's: "-n 12".
Ended run_limited(const std::string& limit, const std::string& arguments) {
  Launch launch;
  launch.args = {"-c", "ulimit " + limit + " && exec " + kPepe + " " + arguments};
  return Process{"/bin/sh", launch}.wait();
}

TEST(Attack, SaysOnceHowManyFilesMayBeOpen) {
  const TestServer server{[](const TestRequest&) { return TestAnswer{.delay = std::chrono::milliseconds{300}}; }};
  const Ended ended = run_limited("-n 40", "attack -rate=200 -duration=300ms -output=/dev/null " + server.url());
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.err,
              HasSubstr(" hits found no free file descriptor: no more than 40 files may be open (ulimit -n)"));
  EXPECT_EQ(ended.err.find("descriptor"), ended.err.rfind("descriptor")) << ended.err;
}

// Sanitizers need descriptors of their own at the start, and all the memory there is for their shadow.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(Attack, NeedsFewDescriptorsAndSaysWhenThereAreFewer) {
  const TestServer server;
  int refused = 0;
  for (int limit = 4; limit <= 40; limit += 2) {
    for (const char* input : {"", " <&-"}) {
      SCOPED_TRACE("ulimit -n " + std::to_string(limit) + input);
      const Ended ended = run_limited("-n " + std::to_string(limit),
                                      "attack -rate=50 -duration=40ms -output=/dev/null " + server.url() + input);
      EXPECT_EQ(ended.signal, 0);
      if (ended.status == 0 || ended.status > 1) continue;  // above: the loader's
      ++refused;
      EXPECT_THAT(ended.err, HasSubstr("too many open files"));
      EXPECT_EQ(line_count(ended.err), 1U) << ended.err;
    }
  }
  EXPECT_GT(refused, 0);
}

// With no more than one connection needs. One hit at a time: two would need two connections.
TEST(Attack, GivesUpIdleConnectionsForNewOnesWhereDescriptorsAreFew) {
  const TempDir dir;
  const TestServer elsewhere;
  const TestServer server{[&elsewhere](const TestRequest& request) {
    if (request.target != "/redirect") return TestAnswer{};
    return TestAnswer{.status = 302, .headers = {"Location: " + elsewhere.url()}};
  }};
  const auto attack = [&dir](int limit, const std::string& urls) {
    const std::string arguments =
        "attack -max-workers=1 -rate=50 -duration=200ms -output=" + dir.path("out") + " " + urls;
    return run_limited("-n " + std::to_string(limit), arguments).status == 0 &&
           run_pepe_binary({"report", "-fail-if=errors>0", dir.path("out")}).status == 0;
  };
  int enough = 4;
  while (enough < 100 && !attack(enough, server.url())) ++enough;
  const std::string rows[] = {server.url() + " " + elsewhere.url(), server.url("/redirect")};
  for (const std::string& urls : rows) EXPECT_TRUE(attack(enough, urls)) << enough << " descriptors, " << urls;
}

TEST(Attack, RefusesAListWithoutEndUnlessItIsLazy) {
  const TestServer server;
  const std::string endless = "yes GET " + server.url() + " | ";
  Launch launch;
  launch.args = {"-c", "ulimit -v 200000 && " + endless + kPepe + " attack -output=/dev/null"};
  const Ended eager = Process{"/bin/sh", launch}.wait();
  EXPECT_EQ(eager.status, 1);
  EXPECT_THAT(eager.err, HasSubstr("the targets take over 146 MB of memory, "));
  EXPECT_THAT(server.requests(), IsEmpty());
  launch.args.back() += " -lazy -rate=100 -duration=50ms";
  EXPECT_EQ((Process{"/bin/sh", launch}.wait().status), 0);
  EXPECT_EQ(server.requests().size(), 5U);
}

TEST(Attack, OutlivesALackOfMemory) {
  const TempDir dir;
  const TestServer server{[](const TestRequest&) { return TestAnswer{.body = std::string(3'000'000, 'x')}; }};
  int ended_well = 0;
  for (int megabytes = 16; megabytes <= 128; megabytes += 8) {
    SCOPED_TRACE("ulimit -v " + std::to_string(megabytes * 1024));
    const std::string file = dir.path("out" + std::to_string(megabytes));
    const Ended ended =
        run_limited("-v " + std::to_string(megabytes * 1024),
                    "attack -rate=0 -max-workers=20 -duration=100ms -output=" + file + " " + server.url());
    EXPECT_EQ(ended.signal, 0) << ended.err;
    if (ended.status != 0) {
      EXPECT_FALSE(ended.err.empty());
      continue;
    }
    ++ended_well;
    EXPECT_GT(line_count(results_of(file)), 0U);
  }
  EXPECT_GT(ended_well, 0);
}
#endif

TEST(Attack, ShowsProgressWhereItIsAskedFor) {
  const TestServer server;
  const Ended ended =
      run_pepe_binary({"attack", "-rate=50", "-duration=300ms", "-progress=on", "-output=/dev/null", server.url()});
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.err, ContainsRegex("50/s asked, [0-9.]+/s reached"));
  EXPECT_THAT(ended.err, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace pepe
