#include "cli/interrupt.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>

namespace pepe::interrupt {
namespace {

std::atomic<unsigned> interrupts{0};
static_assert(std::atomic<unsigned>::is_always_lock_free);
std::array<int, 2> wake_pipe{-1, -1};
std::optional<Instant> first_seen;

void on_interrupt(int /*signal*/) {
  const int saved = errno;
  interrupts.fetch_add(1, std::memory_order_relaxed);
  const char byte = 0;
  [[maybe_unused]] const ssize_t ignored = ::write(wake_pipe[1], &byte, 1);
  errno = saved;
}

}  // namespace

void install() {
  if (wake_pipe[0] >= 0 || ::pipe2(wake_pipe.data(), O_CLOEXEC | O_NONBLOCK) != 0) return;
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, nullptr);
}

int descriptor() { return wake_pipe[0]; }

void acknowledge() {
  std::array<char, 16> bytes{};
  while (::read(wake_pipe[0], bytes.data(), bytes.size()) > 0) {
  }
}

std::optional<Nanos> time_left() {
  const unsigned count = interrupts.load(std::memory_order_relaxed);
  if (count == 0) return std::nullopt;
  if (!first_seen) first_seen = Clock::now();
  if (count > 1) return Nanos{0};
  return std::max(Nanos{0}, kGrace - (Clock::now() - *first_seen));
}

bool happened() { return interrupts.load(std::memory_order_relaxed) > 0; }

}  // namespace pepe::interrupt
