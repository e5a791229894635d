#include "engine/signals.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <initializer_list>

#include "engine/asio.h"

namespace pepe {
namespace {

constexpr int kAsExpected = 7;

// Each runs in a process of its own, which a signal may end.
class RunSignalsDeathTest : public testing::Test {
 protected:
  RunSignalsDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

// Reads until `expected` have been seen.
void read_signals(RunSignals& signals, asio::io_context& io, int expected) {
  signals.watch([&](int seen) {
    if (seen >= expected) io.stop();
  });
  io.run();
}

// A run that has read `read` signals is over; `raised` come while its results are being written.
[[noreturn]] void end_with(std::initializer_list<int> read, std::initializer_list<int> raised) {
  {
    asio::io_context io;
    RunSignals signals{io};
    if (!signals.open()) ::_exit(1);
    for (const int signal : read) std::raise(signal);
    if (read.size() > 0) read_signals(signals, io, static_cast<int>(read.size()));
  }
  for (const int signal : raised) std::raise(signal);
  ::_exit(kAsExpected);
}

TEST_F(RunSignalsDeathTest, AreReadAndEndNothing) {
  EXPECT_EXIT(end_with({SIGINT, SIGTERM}, {}), testing::ExitedWithCode(kAsExpected), "");
}

TEST_F(RunSignalsDeathTest, OfARunThatIsOverLeaveItsWritingTime) {
  EXPECT_EXIT(end_with({}, {SIGINT, SIGTERM}), testing::ExitedWithCode(kAsExpected), "");
  EXPECT_EXIT(end_with({SIGINT}, {SIGTERM}), testing::ExitedWithCode(kAsExpected), "");
}

TEST_F(RunSignalsDeathTest, EndTheProcessAtTheThird) {
  EXPECT_EXIT(end_with({}, {SIGINT, SIGINT, SIGTERM}), testing::KilledBySignal(SIGTERM), "");
  EXPECT_EXIT(end_with({SIGTERM}, {SIGINT, SIGINT}), testing::ExitedWithCode(0), "");
}

TEST_F(RunSignalsDeathTest, ThatCameUnreadCountForTheEnd) {
  const auto run = [] {
    {
      asio::io_context io;
      RunSignals signals{io};
      if (!signals.open()) ::_exit(1);
      std::raise(SIGINT);
      std::raise(SIGTERM);
    }
    std::raise(SIGINT);
    ::_exit(kAsExpected);
  };
  EXPECT_EXIT(run(), testing::KilledBySignal(SIGINT), "");
}

TEST_F(RunSignalsDeathTest, OnceLetGoEndTheProcessEvenIfItIgnoredThem) {
  const auto run = [] {
    std::signal(SIGINT, SIG_IGN);
    asio::io_context io;
    RunSignals signals{io};
    if (!signals.open()) ::_exit(1);
    std::raise(SIGINT);
    read_signals(signals, io, 1);
    signals.let_go();
    std::raise(SIGINT);
    ::_exit(kAsExpected);
  };
  EXPECT_EXIT(run(), testing::KilledBySignal(SIGINT), "");
}

TEST_F(RunSignalsDeathTest, AreLeftAloneUnlessOpened) {
  const auto run = [] {
    asio::io_context io;
    { const RunSignals signals{io}; }
    std::raise(SIGTERM);
    ::_exit(kAsExpected);
  };
  EXPECT_EXIT(run(), testing::KilledBySignal(SIGTERM), "");
}

}  // namespace
}  // namespace pepe
