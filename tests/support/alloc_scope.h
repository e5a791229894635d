#pragma once

#include <atomic>
#include <cstdint>

namespace pepe {

/// Calls of malloc, calloc and realloc by the calling thread so far, whoever makes them. Only binaries that link
/// alloc_scope.cc count.
std::uint64_t allocations() noexcept;

/// Calls of the system by name, in a binary that links syscall_counter.cc.
struct SystemCalls {
  std::uint64_t send{0};
  std::uint64_t recv{0};
  std::uint64_t wait{0};   ///< epoll_wait, poll
  std::uint64_t other{0};  ///< epoll_ctl, timerfd_settime, read, write, close
  std::uint64_t all() const noexcept { return send + recv + wait + other; }
};
/// Of the calling thread.
SystemCalls system_calls() noexcept;

/// While `busy` is true no epoll_wait returns: who waits finds all that was done together, however the threads are
/// scheduled. nullptr: no more of that.
void hold_waits_while(const std::atomic<bool>* busy) noexcept;

}  // namespace pepe
