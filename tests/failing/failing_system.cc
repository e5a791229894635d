// The system calls of the process under test, each of which may be made to fail.
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>

#include "failing/failing_calls.h"

namespace {

using pepe::failing::fails;
using pepe::failing::is_short;
using pepe::failing::lasts;
using pepe::failing::next;

// The kernel follows an answer of EAGAIN, or of less than was asked for, by an event as soon as there is more. One that
// was made up needs an event that is made up.
struct Watch {
  std::atomic<int> set{-1};
  std::atomic<uint32_t> events{0};
  std::atomic<void*> tag{nullptr};
};
constexpr int kMostWatched = 4096;
std::array<Watch, kMostWatched> watches;

void note_watch(int set, int operation, int fd, const epoll_event* event) {
  if (fd < 0 || fd >= kMostWatched) return;
  Watch& watch = watches[static_cast<std::size_t>(fd)];
  watch.set = operation == EPOLL_CTL_DEL ? -1 : set;
  if (event == nullptr) return;
  watch.events = event->events;
  watch.tag = event->data.ptr;
}

void stir(int fd) {
  const int errno_value = errno;
  if (fd >= 0 && fd < kMostWatched && watches[static_cast<std::size_t>(fd)].set >= 0) {
    const Watch& watch = watches[static_cast<std::size_t>(fd)];
    epoll_event event{};
    event.events = watch.events;
    event.data.ptr = watch.tag;
    ::syscall(SYS_epoll_ctl, watch.set.load(), EPOLL_CTL_MOD, fd, &event);
  }
  errno = errno_value;
}

/// The outcome of a transfer that fails or is short.
ssize_t spoilt(int fd, ssize_t moved) {
  if (is_short() || errno == EAGAIN) stir(fd);
  return is_short() ? moved : -1;
}

// Counters that the kernel keeps (eventfd, signalfd, timerfd) are read and written without a fault in life, so here
// too.
constexpr int kMostCounters = 4096;
std::array<std::atomic<bool>, kMostCounters> is_counter{};

int note_counter(int fd) {
  if (fd >= 0 && fd < kMostCounters) is_counter[static_cast<std::size_t>(fd)] = true;
  return fd;
}
bool counts(int fd) { return fd >= 0 && fd < kMostCounters && is_counter[static_cast<std::size_t>(fd)]; }

size_t part_of(size_t size) { return is_short() && size > 1 ? size / 2 : size; }

/// The first buffers of `message`, cut to half of the first.
struct PartialMessage {
  explicit PartialMessage(const msghdr& whole) : message{whole} {
    if (whole.msg_iovlen == 0) return;
    part = whole.msg_iov[0];
    part.iov_len = part_of(part.iov_len);
    message.msg_iov = &part;
    message.msg_iovlen = 1;
  }
  msghdr message;
  iovec part{};
};

}  // namespace

/// `result name(parameters)`: fails with -1, or calls what stands behind with `arguments`.
#define PEPE_FAILING(result, name, parameters, arguments)                         \
  extern "C" result name parameters {                                             \
    static const auto real = reinterpret_cast<result(*) parameters>(next(#name)); \
    if (fails(#name)) return static_cast<result>(-1);                             \
    return real arguments;                                                        \
  }

PEPE_FAILING(int, socket, (int domain, int type, int protocol), (domain, type, protocol))
PEPE_FAILING(int, connect, (int fd, const sockaddr* address, socklen_t size), (fd, address, size))
PEPE_FAILING(int, bind, (int fd, const sockaddr* address, socklen_t size), (fd, address, size))
PEPE_FAILING(int, listen, (int fd, int backlog), (fd, backlog))
PEPE_FAILING(int, shutdown, (int fd, int how), (fd, how))
PEPE_FAILING(int, setsockopt, (int fd, int level, int name, const void* value, socklen_t size),
             (fd, level, name, value, size))
PEPE_FAILING(int, getsockopt, (int fd, int level, int name, void* value, socklen_t* size),
             (fd, level, name, value, size))
PEPE_FAILING(int, getsockname, (int fd, sockaddr* address, socklen_t* size), (fd, address, size))
PEPE_FAILING(int, getpeername, (int fd, sockaddr* address, socklen_t* size), (fd, address, size))
PEPE_FAILING(int, epoll_create1, (int flags), (flags))
PEPE_FAILING(int, epoll_wait, (int set, epoll_event* events, int most, int timeout), (set, events, most, timeout))
PEPE_FAILING(int, poll, (pollfd * watched, nfds_t count, int timeout), (watched, count, timeout))
PEPE_FAILING(int, pipe2, (int ends[2], int flags), (ends, flags))
PEPE_FAILING(int, ftruncate, (int fd, off_t size), (fd, size))
PEPE_FAILING(int, fstat, (int fd, struct stat* status), (fd, status))
PEPE_FAILING(int, getrlimit, (__rlimit_resource_t which, rlimit* limit), (which, limit))
PEPE_FAILING(int, setrlimit, (__rlimit_resource_t which, const rlimit* limit), (which, limit))

extern "C" {

int epoll_ctl(int set, int operation, int fd, epoll_event* event) {
  static const auto real = reinterpret_cast<decltype(&epoll_ctl)>(next("epoll_ctl"));
  // Changes need nothing that could lack. Asio does not look whether its own counters could be added: what fails there
  // once, and never again, nobody can know of.
  const bool may_fail = operation == EPOLL_CTL_ADD && (!counts(fd) || lasts());
  if (may_fail && fails("epoll_ctl")) return -1;
  note_watch(set, operation, fd, event);
  return real(set, operation, fd, event);
}
int eventfd(unsigned count, int flags) {
  static const auto real = reinterpret_cast<decltype(&eventfd)>(next("eventfd"));
  return fails("eventfd") ? -1 : note_counter(real(count, flags));
}
int signalfd(int fd, const sigset_t* signals, int flags) {
  static const auto real = reinterpret_cast<decltype(&signalfd)>(next("signalfd"));
  return fails("signalfd") ? -1 : note_counter(real(fd, signals, flags));
}
int timerfd_create(clockid_t clock, int flags) {
  static const auto real = reinterpret_cast<decltype(&timerfd_create)>(next("timerfd_create"));
  return fails("timerfd_create") ? -1 : note_counter(real(clock, flags));
}

int close(int fd) {
  static const auto real = reinterpret_cast<decltype(&close)>(next("close"));
  if (fd >= 0 && fd < kMostCounters) is_counter[static_cast<std::size_t>(fd)] = false;
  const int closed = real(fd);  // which the kernel does in any case
  return fails("close") ? -1 : closed;
}

int open(const char* path, int flags, ...) {
  static const auto real = reinterpret_cast<decltype(&open)>(next("open"));
  std::va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  return fails("open") ? -1 : real(path, flags, mode);
}
FILE* fopen(const char* path, const char* mode) {
  static const auto real = reinterpret_cast<decltype(&fopen)>(next("fopen"));
  return fails("open") ? nullptr : real(path, mode);
}
FILE* fopen64(const char* path, const char* mode) {
  static const auto real = reinterpret_cast<decltype(&fopen64)>(next("fopen64"));
  return fails("open") ? nullptr : real(path, mode);
}

ssize_t read(int fd, void* bytes, size_t size) {
  static const auto real = reinterpret_cast<decltype(&read)>(next("read"));
  if (counts(fd) || !fails("read")) return real(fd, bytes, size);
  return is_short() ? real(fd, bytes, part_of(size)) : -1;
}
// What is said on standard error is what a run is judged by.
ssize_t write(int fd, const void* bytes, size_t size) {
  static const auto real = reinterpret_cast<decltype(&write)>(next("write"));
  if (counts(fd) || fd == STDERR_FILENO || !fails("write")) return real(fd, bytes, size);
  return is_short() ? real(fd, bytes, part_of(size)) : -1;
}
ssize_t recv(int fd, void* bytes, size_t size, int flags) {
  static const auto real = reinterpret_cast<decltype(&recv)>(next("recv"));
  if (!fails("recv")) return real(fd, bytes, size, flags);
  // Buffers are large and answers small: a short read is one of a few bytes.
  return spoilt(fd, is_short() ? real(fd, bytes, std::min<size_t>(size, 7), flags) : -1);
}
ssize_t send(int fd, const void* bytes, size_t size, int flags) {
  static const auto real = reinterpret_cast<decltype(&send)>(next("send"));
  if (!fails("send")) return real(fd, bytes, size, flags);
  return spoilt(fd, is_short() ? real(fd, bytes, part_of(size), flags) : -1);
}
ssize_t sendmsg(int fd, const msghdr* message, int flags) {
  static const auto real = reinterpret_cast<decltype(&sendmsg)>(next("sendmsg"));
  if (!fails("send")) return real(fd, message, flags);
  const PartialMessage partial{*message};
  return spoilt(fd, is_short() ? real(fd, &partial.message, flags) : -1);
}
ssize_t recvmsg(int fd, msghdr* message, int flags) {
  static const auto real = reinterpret_cast<decltype(&recvmsg)>(next("recvmsg"));
  if (!fails("recv")) return real(fd, message, flags);
  PartialMessage partial{*message};
  return spoilt(fd, is_short() ? real(fd, &partial.message, flags) : -1);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), void* argument) {
  static const auto real = reinterpret_cast<decltype(&pthread_create)>(next("pthread_create"));
  return fails("pthread_create") ? errno : real(thread, attributes, run, argument);
}

}  // extern "C"
