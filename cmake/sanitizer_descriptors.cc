// Linked by builds with UndefinedBehaviorSanitizer only: what it may ask for where the binary is short of descriptors.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace {

// As many as two ends of a pipe, and some for what other threads open meanwhile.
constexpr std::size_t kWanted = 4;

bool has_descriptors() {
  std::array<int, kWanted> taken{};
  std::size_t count = 0;
  while (count < kWanted && (taken[count] = ::open("/", O_RDONLY | O_CLOEXEC)) >= 0) ++count;
  const bool enough = count == kWanted;
  while (count > 0) ::close(taken[--count]);
  return enough;
}

// What the runtime was asked before, it finds in a table of its own.
constexpr std::size_t kKnown = 4096;
std::array<std::atomic<std::uintptr_t>, kKnown> known;

}  // namespace

extern "C" {

void __real___ubsan_handle_dynamic_type_cache_miss_abort(void* data, std::uintptr_t pointer, std::uintptr_t hash);
void __wrap___ubsan_handle_dynamic_type_cache_miss_abort(void* data, std::uintptr_t pointer, std::uintptr_t hash);

// Before it looks at a type that is new to it, the runtime has a pipe try whether its memory can be read, and takes the
// lack of descriptors for bad memory. Without them the object goes unchecked, and the next one of its type is looked
// at.
void __wrap___ubsan_handle_dynamic_type_cache_miss_abort(void* data, std::uintptr_t pointer, std::uintptr_t hash) {
  std::atomic<std::uintptr_t>& place = known[hash % kKnown];
  if (place.load(std::memory_order_relaxed) != hash) {
    if (!has_descriptors()) return;
    place.store(hash, std::memory_order_relaxed);
  }
  __real___ubsan_handle_dynamic_type_cache_miss_abort(data, pointer, hash);
}
}
