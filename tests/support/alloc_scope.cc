#include "support/alloc_scope.h"

#include <cstdlib>
#include <new>

namespace pepe {
namespace {
thread_local std::uint64_t count{0};

void* allocate(std::size_t size) {
  ++count;
  if (void* const memory = std::malloc(size == 0 ? 1 : size)) return memory;
  std::abort();
}
}  // namespace

std::uint64_t allocations() noexcept { return count; }

}  // namespace pepe

void* operator new(std::size_t size) { return pepe::allocate(size); }
void* operator new[](std::size_t size) { return pepe::allocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
