#include "engine/last_signals.h"

#include <unistd.h>

#include <atomic>
#include <csignal>

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

void on_signal(int signal) {
  last.store(signal);
  if (seen_by_now.fetch_add(1) + 1 >= kEnough) return end_now(signal);
  if (!in_grace.exchange(true)) ::alarm(kGraceSeconds);
}

void mask_signals(int how) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(how, &signals, nullptr);
}

}  // namespace

void leave_signals_to_others() noexcept { mask_signals(SIG_BLOCK); }

void watch_last_signals(int seen) noexcept {
  seen_by_now.store(seen);
  told_to_stop.store(seen > 0);
  std::signal(SIGALRM, end_now);
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  mask_signals(SIG_UNBLOCK);
}

}  // namespace pepe
