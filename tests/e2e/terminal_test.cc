#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "e2e/pepe_binary.h"
#include "e2e/terminal.h"
#include "support/test_server.h"

namespace pepe {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

TEST(Terminal, GetsAReportInsteadOfBinaryResults) {
  const TestServer server;
  Terminal terminal;
  Launch launch;
  launch.args = {"attack", "-rate=50", "-duration=200ms", server.url()};
  launch.output_descriptor = terminal.device;
  const Ended ended = Process{kPepe, launch}.wait();
  EXPECT_EQ(ended.status, 0) << ended.err;
  const std::string text = terminal.content();
  EXPECT_THAT(text, testing::StartsWith("Requests      [total, rate, throughput]         10, "));
  EXPECT_THAT(text, HasSubstr("200:10  \r\n"));
}

TEST(Terminal, GetsTextResultsWhereTheyAreAskedFor) {
  const TestServer server;
  Terminal terminal;
  Launch launch;
  launch.args = {"attack", "-rate=50", "-duration=40ms", "-encoding=json", server.url()};
  launch.output_descriptor = terminal.device;
  EXPECT_EQ((Process{kPepe, launch}.wait().status), 0);
  const std::string text = terminal.content();
  EXPECT_EQ(line_count(text), 2U);
  EXPECT_THAT(text, testing::StartsWith("{\"attack\":"));
}

TEST(Terminal, GetsALiveLineThatIsTakenOffAgain) {
  const TestServer server;
  Terminal terminal;
  Launch launch;
  launch.args = {"attack", "-rate=50", "-duration=300ms", "-output=/dev/null", server.url()};
  launch.error_descriptor = terminal.device;
  EXPECT_EQ((Process{kPepe, launch}.wait().status), 0);
  const std::string text = terminal.content();
  EXPECT_THAT(text, ContainsRegex("\r[^\n]*50/s asked"));
  EXPECT_THAT(text, testing::EndsWith("\r\x1b[K"));
}

TEST(Terminal, GetsNoLiveLineWhereItIsSwitchedOff) {
  const TestServer server;
  Terminal terminal;
  Launch launch;
  launch.args = {"attack", "-rate=50", "-duration=300ms", "-progress=off", "-output=/dev/null", server.url()};
  launch.error_descriptor = terminal.device;
  EXPECT_EQ((Process{kPepe, launch}.wait().status), 0);
  EXPECT_THAT(terminal.content(), Not(HasSubstr("asked")));
}

TEST(Terminal, IsClearedForEachInterimReport) {
  Terminal terminal;
  Launch launch;
  launch.args = {"report", "-every=1ns"};
  launch.input = "1700000000000000000,200,1000000,0,2,,b2s=,,0,GET,http://127.0.0.1/,\n";
  launch.output_descriptor = terminal.device;
  EXPECT_EQ((Process{kPepe, launch}.wait().status), 0);
  EXPECT_THAT(terminal.content(), HasSubstr("\x1b[2J\x1b[0;0HRequests"));
}

}  // namespace
}  // namespace pepe
