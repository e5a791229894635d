#include "pepe/base/memory.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace pepe {
namespace {

// Of the control group that this process sees as its own: that of its container. "max" and its like are no number.
std::uint64_t group_limit(const char* path) {
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return UINT64_MAX;
  std::array<char, 32> text;
  const ssize_t size = ::read(file, text.data(), text.size());
  ::close(file);
  std::uint64_t bytes = 0;
  if (size > 0) std::from_chars(text.data(), text.data() + size, bytes);
  return bytes > 0 ? bytes : UINT64_MAX;
}

}  // namespace

std::uint64_t usable_memory() {
  std::uint64_t memory = UINT64_MAX;
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page_bytes = ::sysconf(_SC_PAGESIZE);
  if (pages > 0 && page_bytes > 0) memory = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes);
  memory = std::min(memory, group_limit("/sys/fs/cgroup/memory.max"));
  memory = std::min(memory, group_limit("/sys/fs/cgroup/memory/memory.limit_in_bytes"));
  rlimit space{};
  if (::getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
    memory = std::min(memory, std::uint64_t{space.rlim_cur});
  return memory;
}

}  // namespace pepe
