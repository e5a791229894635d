// Which call is to fail. Runs inside allocations of the process under test: no allocation, no libstdc++.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "failing/failing_calls.h"

namespace pepe::failing {
namespace {

struct ErrnoName {
  const char* name;
  int value;
};
constexpr ErrnoName kErrnos[] = {
    {"EINTR", EINTR},
    {"EAGAIN", EAGAIN},
    {"ECONNRESET", ECONNRESET},
    {"ECONNREFUSED", ECONNREFUSED},
    {"EMFILE", EMFILE},
    {"ENFILE", ENFILE},
    {"ENOMEM", ENOMEM},
    {"ENOSPC", ENOSPC},
    {"EIO", EIO},
    {"EPIPE", EPIPE},
    {"EACCES", EACCES},
    {"ENOENT", ENOENT},
    {"ETIMEDOUT", ETIMEDOUT},
    {"EDQUOT", EDQUOT},
    {"EFBIG", EFBIG},
    {"EADDRNOTAVAIL", EADDRNOTAVAIL},
    {"ENETUNREACH", ENETUNREACH},
    {"ENOBUFS", ENOBUFS},
    {"EINVAL", EINVAL},
    {"EPERM", EPERM},
};
constexpr std::size_t kLongestCall = 32;

// One fault for the process. Written once, before main and its threads.
bool is_set = false;
char call_name[kLongestCall];
unsigned long first = 0;
bool and_after = false;
bool is_part = false;
int errno_value = 0;
std::int64_t step_nanos = 0;
bool is_pause = false;
std::atomic<unsigned long> calls{0};
std::atomic<bool> seen{false};

void refuse(const char* setting) {
  static_cast<void>(!::syscall(SYS_write, STDERR_FILENO, "bad PEPE_FAIL: ", 15));
  static_cast<void>(!::syscall(SYS_write, STDERR_FILENO, setting, std::strlen(setting)));
  ::syscall(SYS_exit_group, 99);
}

void set_effect(const char* effect, const char* setting) {
  is_part = std::strcmp(effect, "short") == 0;
  if (is_part) return;
  for (const ErrnoName& known : kErrnos) {
    if (std::strcmp(effect, known.name) == 0) errno_value = known.value;
  }
  char* end = nullptr;
  if (errno_value == 0) step_nanos = static_cast<std::int64_t>(std::strtod(effect, &end) * 1e9);
  if (errno_value == 0 && (end == effect || *end != '\0')) refuse(setting);
  is_pause = step_nanos > 0;
  for (const char* const clock : {"clock", "monotonic", "suspend"}) is_pause &= std::strcmp(call_name, clock) != 0;
}

// What runs before this one, in libraries, has no environment yet.
[[gnu::constructor]] void read_setting() {
  const char* const setting = std::getenv("PEPE_FAIL");
  if (setting == nullptr) return;
  const char* const colon = std::strchr(setting, ':');
  if (colon == nullptr || static_cast<std::size_t>(colon - setting) >= kLongestCall) refuse(setting);
  std::memcpy(call_name, setting, static_cast<std::size_t>(colon - setting));
  char* end = nullptr;
  first = std::strtoul(colon + 1, &end, 10);
  and_after = *end == '+';
  if (and_after) ++end;
  if (*end != ':' || first == 0) refuse(setting);
  set_effect(end + 1, setting);
  is_set = true;
}

void pause() {
  const timespec time{.tv_sec = step_nanos / 1'000'000'000, .tv_nsec = step_nanos % 1'000'000'000};
  ::syscall(SYS_nanosleep, &time, nullptr);
}

void tell() {
  if (seen.exchange(true)) return;
  const char* const path = std::getenv("PEPE_FAIL_SEEN");
  if (path == nullptr) return;
  const long fd = ::syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (fd >= 0) ::syscall(SYS_close, fd);
}

}  // namespace

bool fails(const char* call) noexcept {
  if (!is_set || std::strcmp(call, call_name) != 0) return false;
  const unsigned long number = calls.fetch_add(1) + 1;
  if (number < first || (number > first && !and_after)) return false;
  tell();
  if (is_pause) pause();
  if (errno_value != 0) errno = errno_value;
  return !is_pause;
}

bool lasts() noexcept { return is_set && and_after; }
bool is_short() noexcept { return is_part; }
std::int64_t step() noexcept { return step_nanos; }

void* next(const char* name) noexcept {
  void* const found = ::dlsym(RTLD_NEXT, name);
  if (found == nullptr) ::syscall(SYS_exit_group, 98);
  return found;
}

}  // namespace pepe::failing
