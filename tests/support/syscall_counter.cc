// Stands between the engine and libc: each wrapper counts and makes the call itself.
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "support/alloc_scope.h"

namespace pepe {
namespace {
thread_local SystemCalls counted;
std::atomic<const std::atomic<bool>*> held_by{nullptr};
}  // namespace

SystemCalls system_calls() noexcept { return counted; }

void hold_waits_while(const std::atomic<bool>* busy) noexcept { held_by = busy; }

}  // namespace pepe

extern "C" {

ssize_t send(int fd, const void* bytes, size_t size, int flags) {
  ++pepe::counted.send;
  return ::syscall(SYS_sendto, fd, bytes, size, flags, nullptr, 0);
}
ssize_t sendmsg(int fd, const msghdr* message, int flags) {
  ++pepe::counted.send;
  return ::syscall(SYS_sendmsg, fd, message, flags);
}
ssize_t recv(int fd, void* bytes, size_t size, int flags) {
  ++pepe::counted.recv;
  return ::syscall(SYS_recvfrom, fd, bytes, size, flags, nullptr, nullptr);
}
int epoll_wait(int fd, epoll_event* events, int most, int timeout) {
  ++pepe::counted.wait;
  if (const std::atomic<bool>* const busy = pepe::held_by) {
    pollfd ready{fd, POLLIN, 0};
    ::poll(&ready, 1, timeout);
    busy->wait(true);
    timeout = 0;
  }
  return static_cast<int>(::syscall(SYS_epoll_pwait, fd, events, most, timeout, nullptr, 8));
}
int epoll_ctl(int set, int operation, int fd, epoll_event* event) noexcept {
  ++pepe::counted.other;
  return static_cast<int>(::syscall(SYS_epoll_ctl, set, operation, fd, event));
}
int timerfd_settime(int fd, int flags, const itimerspec* time, itimerspec* old) noexcept {
  ++pepe::counted.other;
  return static_cast<int>(::syscall(SYS_timerfd_settime, fd, flags, time, old));
}
ssize_t read(int fd, void* bytes, size_t size) {
  ++pepe::counted.other;
  return ::syscall(SYS_read, fd, bytes, size);
}
ssize_t write(int fd, const void* bytes, size_t size) {
  ++pepe::counted.other;
  return ::syscall(SYS_write, fd, bytes, size);
}
}
