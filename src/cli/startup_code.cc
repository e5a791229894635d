#include "cli/startup_code.h"

#ifdef __linux__
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#endif

namespace pepe {

#ifdef __linux__
namespace {

// Segments that nobody writes to: a page of them is always that of the file.
int give_back_object(dl_phdr_info* object, std::size_t, void*) {
  const auto page = static_cast<std::uintptr_t>(::getpagesize());
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) != 0) continue;
    const std::uintptr_t address = object->dlpi_addr + segment.p_vaddr;
    const std::uintptr_t begin = address / page * page;
    static_cast<void>(::madvise(reinterpret_cast<void*>(begin), address + segment.p_memsz - begin, MADV_DONTNEED));
  }
  return 0;
}

bool is_traced() noexcept {
  const int file = ::open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  std::array<char, 4096> bytes;
  const ssize_t size = ::read(file, bytes.data(), bytes.size());
  ::close(file);
  const std::string_view status{bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
  constexpr std::string_view kTracer = "TracerPid:\t";
  const std::size_t at = status.find(kTracer);
  return at != std::string_view::npos && !status.substr(at + kTracer.size()).starts_with("0\n");
}

}  // namespace

void give_back_startup_code() noexcept {
  if (!is_traced()) ::dl_iterate_phdr(give_back_object, nullptr);
}
#else
void give_back_startup_code() noexcept {}
#endif

}  // namespace pepe
