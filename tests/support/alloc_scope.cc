// Stands between everything and glibc's allocator: operator new, OpenSSL, nghttp2 and zlib all end up here.
#include "support/alloc_scope.h"

#include <cstddef>

namespace pepe {
namespace {
thread_local std::uint64_t count{0};
}  // namespace

std::uint64_t allocations() noexcept { return count; }

}  // namespace pepe

extern "C" {

void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* block, std::size_t size);

void* malloc(std::size_t size) {
  ++pepe::count;
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  ++pepe::count;
  return __libc_calloc(count, size);
}
void* realloc(void* block, std::size_t size) {
  ++pepe::count;
  return __libc_realloc(block, size);
}
}
