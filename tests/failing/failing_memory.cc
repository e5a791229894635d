// The allocations of the process under test, each of which may be made to fail.
#include <netdb.h>
#include <pthread.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "failing/failing_calls.h"

namespace {

using pepe::failing::fails;
using pepe::failing::next;

// What is asked for while dlsym() itself looks for the allocator. Never given back.
alignas(std::max_align_t) char early_bytes[64 * 1024];
std::size_t early_used = 0;
thread_local bool looking __attribute__((tls_model("initial-exec"))) = false;

void* early(std::size_t size) {
  constexpr std::size_t kAlign = alignof(std::max_align_t);
  size = (size + kAlign - 1) / kAlign * kAlign;
  if (size > sizeof early_bytes - early_used) std::abort();
  char* const memory = early_bytes + early_used;
  early_used += size;
  return memory;
}
bool is_early(const void* memory) {
  const auto at = reinterpret_cast<std::uintptr_t>(memory);
  const auto begin = reinterpret_cast<std::uintptr_t>(early_bytes);
  return at >= begin && at < begin + sizeof early_bytes;
}

/// The allocator behind this one.
struct Allocator {
  void* (*malloc)(std::size_t);
  void* (*calloc)(std::size_t, std::size_t);
  void* (*realloc)(void*, std::size_t);
  void (*free)(void*);
  int (*posix_memalign)(void**, std::size_t, std::size_t);
  void* (*aligned_alloc)(std::size_t, std::size_t);
};

template <class Function>
void find(Function*& function, const char* name) {
  function = reinterpret_cast<Function*>(next(name));
}

/// All of it is looked up on first use: what looks up may itself allocate and free.
const Allocator& behind() {
  static Allocator found;
  if (found.aligned_alloc == nullptr && !looking) {
    looking = true;
    find(found.free, "free");
    find(found.malloc, "malloc");
    find(found.calloc, "calloc");
    find(found.realloc, "realloc");
    find(found.posix_memalign, "posix_memalign");
    find(found.aligned_alloc, "aligned_alloc");
    looking = false;
  }
  return found;
}

// What is spared: the name service of glibc 2.36, which reads through a null pointer when it finds no memory, and what
// sanitizers ask at the start of each thread.
thread_local bool spared __attribute__((tls_model("initial-exec"))) = false;

bool no_memory() { return !spared && fails("alloc"); }

}  // namespace

extern "C" {

void* malloc(std::size_t size) {
  if (looking) return early(size);
  return no_memory() ? nullptr : behind().malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  if (looking) return early(count * size);
  return no_memory() ? nullptr : behind().calloc(count, size);
}
void* realloc(void* memory, std::size_t size) {
  if (is_early(memory)) {
    void* const moved = malloc(size);
    if (moved != nullptr) std::memcpy(moved, memory, size);
    return moved;
  }
  return no_memory() ? nullptr : behind().realloc(memory, size);
}
void free(void* memory) {
  if (memory == nullptr || is_early(memory)) return;
  if (const auto real = behind().free) real(memory);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  return no_memory() ? ENOMEM : behind().posix_memalign(memory, alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return no_memory() ? nullptr : behind().aligned_alloc(alignment, size);
}

int getaddrinfo(const char* name, const char* service, const addrinfo* hints, addrinfo** found) {
  static const auto real = reinterpret_cast<decltype(&getaddrinfo)>(next("getaddrinfo"));
  spared = true;
  const int answer = real(name, service, hints, found);
  spared = false;
  return answer;
}
int pthread_getattr_np(pthread_t thread, pthread_attr_t* attributes) {
  static const auto real = reinterpret_cast<decltype(&pthread_getattr_np)>(next("pthread_getattr_np"));
  spared = true;
  const int answer = real(thread, attributes);
  spared = false;
  return answer;
}

}  // extern "C"

// A sanitizer's operator new does not come to malloc.
#ifdef PEPE_FAILING_NEW

namespace {

template <class... Arguments>
void* make(const char* name, Arguments... arguments) {
  if (no_memory()) throw std::bad_alloc{};
  return reinterpret_cast<void* (*)(Arguments...)>(next(name))(arguments...);
}

}  // namespace

void* operator new(std::size_t size) { return make("_Znwm", size); }
void* operator new[](std::size_t size) { return make("_Znam", size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  if (no_memory()) return nullptr;
  return reinterpret_cast<void* (*)(std::size_t)>(next("_Znwm"))(size);
}

#endif
