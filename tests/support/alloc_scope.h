#pragma once

#include <cstdint>

namespace pepe {

/// Calls of operator new by the calling thread so far. Only binaries that link alloc_scope.cc count.
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

}  // namespace pepe
