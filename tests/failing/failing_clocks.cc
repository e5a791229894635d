// The clocks of the process under test, which may be set, jump, or stand still while the machine sleeps. What waits
// until a time of the monotonic clock is moved with it.
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <ctime>

#include "failing/failing_calls.h"

namespace {

using pepe::failing::fails;
using pepe::failing::next;
using pepe::failing::step;

constexpr std::int64_t kSecond = 1'000'000'000;

// How far the process sees each clock ahead of the machine's, in nanoseconds.
std::atomic<std::int64_t> wall_ahead{0};
std::atomic<std::int64_t> monotonic_ahead{0};
std::atomic<bool> asleep{false};

void sleep_for(std::int64_t nanos) {
  const timespec time{.tv_sec = nanos / kSecond, .tv_nsec = nanos % kSecond};
  ::syscall(SYS_nanosleep, &time, nullptr);
}

// A machine that sleeps runs no thread: each waits at its next look at a clock.
void sleep_through() {
  asleep.store(true);
  sleep_for(step());
  monotonic_ahead.fetch_sub(step());
  asleep.store(false);
}

/// Before each reading of a clock.
void note_reading() {
  while (asleep.load()) sleep_for(kSecond / 1000);
  if (fails("clock")) wall_ahead.store(step());
  if (fails("monotonic")) monotonic_ahead.store(step());
  if (fails("suspend")) sleep_through();
}

timespec moved(const timespec& time, std::int64_t by) {
  std::int64_t seconds = time.tv_sec + by / kSecond;
  std::int64_t nanos = time.tv_nsec + by % kSecond;
  seconds += nanos >= kSecond ? 1 : nanos < 0 ? -1 : 0;
  nanos += nanos >= kSecond ? -kSecond : nanos < 0 ? kSecond : 0;
  return {.tv_sec = seconds, .tv_nsec = nanos};
}

/// `time` of the process's monotonic clock as the machine's; what is long over there has just been here.
timespec of_machine(const timespec& time) {
  const timespec there = moved(time, -monotonic_ahead.load());
  return there.tv_sec < 0 ? timespec{.tv_sec = 0, .tv_nsec = 1} : there;
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* time) {
  static const auto real = reinterpret_cast<decltype(&clock_gettime)>(next("clock_gettime"));
  const bool is_wall = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
  const bool is_monotonic = clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_COARSE;
  if (is_wall || is_monotonic) note_reading();
  const int got = real(clock, time);
  if (got == 0 && is_wall) *time = moved(*time, wall_ahead.load());
  if (got == 0 && is_monotonic) *time = moved(*time, monotonic_ahead.load());
  return got;
}

int gettimeofday(timeval* time, void* /*zone*/) {
  timespec now{};
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  *time = {.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
  return 0;
}

std::time_t time(std::time_t* time) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (time != nullptr) *time = now.tv_sec;
  return now.tv_sec;
}

int timerfd_settime(int fd, int flags, const itimerspec* set, itimerspec* before) {
  static const auto real = reinterpret_cast<decltype(&timerfd_settime)>(next("timerfd_settime"));
  const bool runs = set->it_value.tv_sec != 0 || set->it_value.tv_nsec != 0;
  if ((flags & TFD_TIMER_ABSTIME) == 0 || !runs) return real(fd, flags, set, before);
  const itimerspec there{.it_interval = set->it_interval, .it_value = of_machine(set->it_value)};
  return real(fd, flags, &there, before);
}

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock, const timespec* until) {
  static const auto real = reinterpret_cast<decltype(&pthread_cond_clockwait)>(next("pthread_cond_clockwait"));
  const timespec there = clock == CLOCK_MONOTONIC ? of_machine(*until) : *until;
  return real(condition, mutex, clock, &there);
}

}  // extern "C"
