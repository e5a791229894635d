// Commands that read results, interrupted while they wait for the first one.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "e2e/pepe_binary.h"
#include "support/temp_dir.h"

namespace pepe {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

/// Opens the named pipe at `path` for writing, as soon as somebody reads it. -1: nobody does.
int open_for_reader(const std::string& path) {
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds{60};
  while (std::chrono::steady_clock::now() < patience) {
    const int pipe = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (pipe >= 0) return pipe;
    std::this_thread::yield();
  }
  return -1;
}

/// What becomes of `args` and a pipe to read, in which there is `bytes`, when an interrupt comes.
Ended interrupt_at(std::vector<std::string> args, const std::string& bytes) {
  const TempDir dir;
  const std::string path = dir.path("pipe");
  EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
  args.push_back(path);
  Launch launch;
  launch.args = std::move(args);
  Process process{kPepe, launch};
  const int pipe = open_for_reader(path);
  EXPECT_GE(pipe, 0);
  EXPECT_EQ(::write(pipe, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  process.send_signal(SIGINT);
  Ended ended = process.wait();
  ::close(pipe);
  return ended;
}

TEST(Interrupt, BeforeTheFirstResultMakesAReportOfNone) {
  for (const char* begun : {"", "\xc1pe", "{\"attack\":", "1700000000000000000,"}) {
    SCOPED_TRACE(begun);
    const Ended ended = interrupt_at({"report", "-type=json"}, begun);
    EXPECT_EQ(ended.status, 0);
    EXPECT_THAT(ended.err, IsEmpty());
    EXPECT_THAT(ended.out, HasSubstr(R"("requests":0,)"));
  }
}

TEST(Interrupt, BeforeTheFirstResultLeavesTheThresholdsTheirSay) {
  EXPECT_EQ(interrupt_at({"report", "-fail-if=requests<1"}, "").status, 4);
}

TEST(Interrupt, BeforeTheFirstResultMakesAPlotOfNone) {
  const Ended ended = interrupt_at({"plot"}, "");
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.err, IsEmpty());
  EXPECT_THAT(ended.out, HasSubstr("</html>"));
}

TEST(Interrupt, BeforeTheFirstResultLeavesNothingToEncode) {
  const Ended ended = interrupt_at({"encode"}, "");
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.err + ended.out, IsEmpty());
}

}  // namespace
}  // namespace pepe
