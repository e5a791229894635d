#include "engine/signals.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <exception>

#include "engine/shortage.h"

namespace pepe {
namespace {

constexpr unsigned kGraceSeconds = 1;
constexpr int kEnough = 3;

// Of the process, since signal handlers have nothing else to look at.
std::atomic<int> seen_by_now{0};
std::atomic<int> last{SIGTERM};
std::atomic<bool> told_to_stop{false};
std::atomic<bool> in_grace{false};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

void end_now(int /*signal*/) {
  if (told_to_stop.load()) ::_exit(0);
  std::signal(last.load(), SIG_DFL);
  std::raise(last.load());
}

void on_last_signal(int signal) {
  last.store(signal);
  if (seen_by_now.fetch_add(1) + 1 >= kEnough) return end_now(signal);
  if (!in_grace.exchange(true)) ::alarm(kGraceSeconds);
}

sigset_t stop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  return signals;
}

void mask_signals(int how) {
  const sigset_t signals = stop_signals();
  pthread_sigmask(how, &signals, nullptr);
}

// What is ignored, as a shell has it for what it starts in the background, is read there too: signals that are blocked
// are kept.
int open_signals() noexcept {
  const sigset_t signals = stop_signals();
  return ::signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
}

// Of either. REQUIRES: both are open.
void await_one(int timer, int signals) noexcept {
  std::array<pollfd, 2> waits{pollfd{.fd = timer, .events = POLLIN, .revents = 0},
                              pollfd{.fd = signals, .events = POLLIN, .revents = 0}};
  while (::poll(waits.data(), waits.size(), -1) < 0 && errno == EINTR) {
  }
}

}  // namespace

void leave_signals_to_others() noexcept { mask_signals(SIG_BLOCK); }

Expected<void> sleep_until_signal(std::int64_t unix_nanos) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const itimerspec until{.it_interval = {},
                         .it_value = {.tv_sec = unix_nanos / kSecond, .tv_nsec = unix_nanos % kSecond}};
  const int timer = ::timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC);
  if (timer < 0) return system_shortage("attack", errno);
  const int signals = open_signals();
  const bool ready = signals >= 0 && ::timerfd_settime(timer, TFD_TIMER_ABSTIME, &until, nullptr) == 0;
  const int fault = errno;
  if (ready) await_one(timer, signals);
  if (signals >= 0) ::close(signals);
  ::close(timer);
  return ready ? Expected<void>{} : system_shortage("attack", fault);
}

Expected<void> RunSignals::open() {
  const int fd = open_signals();
  if (fd < 0) return system_shortage("attack", errno);
  try {
    descriptor_.assign(fd);
  } catch (const std::exception&) {
    ::close(fd);
    return shortage_error("attack");
  }
  mask_signals(SIG_BLOCK);
  return {};
}

int RunSignals::count() noexcept {
  signalfd_siginfo signal{};
  while (::read(descriptor_.native_handle(), &signal, sizeof signal) == sizeof signal) ++seen_;
  return seen_;
}

// What a shell has it ignore, for one that it starts in the background, is to be ignored no more.
void RunSignals::let_go() noexcept {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  mask_signals(SIG_UNBLOCK);
}

RunSignals::~RunSignals() {
  if (!descriptor_.is_open()) return;
  seen_by_now.store(seen_);
  told_to_stop.store(seen_ > 0);
  std::signal(SIGALRM, end_now);
  std::signal(SIGINT, on_last_signal);
  std::signal(SIGTERM, on_last_signal);
  mask_signals(SIG_UNBLOCK);
}

}  // namespace pepe
