#include "engine/ready_set.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <thread>

namespace pepe {
namespace {

using namespace std::chrono_literals;

/// The parameter: whether the waits are for the set alone.
class ReadySetTest : public testing::TestWithParam<bool> {
 protected:
  ReadySetTest() : work_{asio::make_work_guard(io_)}, set_{io_} {
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends_.data()), 0);
  }
  ~ReadySetTest() override {
    for (const int end : ends_) ::close(end);
  }

  // Polls and waits as a worker does, until an event for `tag` that satisfies `wanted`.
  template <class Wanted>
  bool await(void* tag, Wanted wanted) {
    for (int turn = 0; turn < 1000; ++turn) {
      for (const ReadyEvent& event : set_.poll())
        if (event.tag == tag && wanted(event)) return true;
      const Instant now = Clock::now();
      for (const ReadyEvent& event : set_.wait(now, now + 5ms, GetParam()))
        if (event.tag == tag && wanted(event)) return true;
    }
    return false;
  }

  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  ReadySet set_;
  std::array<int, 2> ends_{};
  int tag_{0};
};

TEST_P(ReadySetTest, TellsWhatCanBeRead) {
  ASSERT_TRUE(set_.add(ends_[0], &tag_));
  ASSERT_EQ(::write(ends_[1], "x", 1), 1);
  EXPECT_TRUE(await(&tag_, [](const ReadyEvent& event) { return event.readable; }));
  set_.remove(ends_[0]);
}

TEST_P(ReadySetTest, TellsThatThePeerHasClosed) {
  ASSERT_TRUE(set_.add(ends_[0], &tag_));
  ::shutdown(ends_[1], SHUT_WR);
  EXPECT_TRUE(await(&tag_, [](const ReadyEvent& event) { return event.drain; }));
  set_.remove(ends_[0]);
}

TEST_P(ReadySetTest, TellsWhenAFullSocketCanBeWrittenAgain) {
  ASSERT_TRUE(set_.add(ends_[0], &tag_));
  std::array<char, 65536> bytes{};
  while (::write(ends_[0], bytes.data(), bytes.size()) > 0) {
  }
  static_cast<void>(set_.poll());
  set_.await_writable(ends_[0]);
  while (::read(ends_[1], bytes.data(), bytes.size()) > 0) {
  }
  EXPECT_TRUE(await(&tag_, [](const ReadyEvent& event) { return event.writable; }));
  set_.remove(ends_[0]);
}

TEST_P(ReadySetTest, WaitsForNothingMoreOnceAHandlerHasRun) {
  if (GetParam()) GTEST_SKIP() << "handlers are not waited for";
  const Instant until = Clock::now() + 10s;
  bool ran = false;
  asio::post(io_, [&ran] { ran = true; });
  static_cast<void>(set_.wait(Clock::now(), until, false));
  EXPECT_TRUE(ran);
  EXPECT_LT(Clock::now(), until);
}

TEST_P(ReadySetTest, WaitsNoLongerThanItIsTold) {
  const Instant start = Clock::now();
  Instant now = start;
  while (now < start + 20ms) {
    static_cast<void>(set_.wait(now, start + 20ms, GetParam()));
    static_cast<void>(set_.poll());
    now = Clock::now();
  }
  EXPECT_GE(now - start, 20ms);
}

// A timer that fired between the clock read of a turn and its poll must not be taken for one that is still to come.
TEST_P(ReadySetTest, WakesUpAlthoughItsTimerWentOffBeforeTheWait) {
  for (int round = 0; round < 20; ++round) {
    const Instant stale = Clock::now();
    asio::post(io_, [] {});
    static_cast<void>(set_.wait(stale, stale + 1ms, false));  // comes back for the handler, its timer armed
    while (Clock::now() < stale + 2ms) {
    }
    static_cast<void>(set_.poll());
    static_cast<void>(set_.wait(stale, stale + 3ms, GetParam()));
  }
  SUCCEED();
}

TEST_P(ReadySetTest, RunsHandlersOfItsContext) {
  bool ran = false;
  asio::post(io_, [&] { ran = true; });
  for (int turn = 0; turn < 100 && !ran; ++turn) {
    const Instant now = Clock::now();
    static_cast<void>(set_.wait(now, now + 5ms, false));
  }
  EXPECT_TRUE(ran);
}

// A time that no test would live to see: only wake() can end these waits.
TEST_P(ReadySetTest, IsWokenFromAnotherThread) {
  for (int round = 0; round < 100; ++round) {
    std::thread other{[this] { set_.wake(); }};
    static_cast<void>(set_.wait(Clock::now(), Instant::max(), GetParam()));
    other.join();
    static_cast<void>(set_.poll());
  }
}

TEST_P(ReadySetTest, RemembersThatItWasWokenBeforeItWaits) {
  set_.wake();
  static_cast<void>(set_.wait(Clock::now(), Instant::max(), GetParam()));
}

INSTANTIATE_TEST_SUITE_P(, ReadySetTest, testing::Values(false, true),
                         [](const auto& row) { return row.param ? "Alone" : "WithItsContext"; });

}  // namespace
}  // namespace pepe
