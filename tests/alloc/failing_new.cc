#include "alloc/failing_new.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace pepe {
namespace {

std::atomic<std::uint64_t> made{0};
std::atomic<std::uint64_t> fails_from{UINT64_MAX};
std::atomic<std::uint64_t> fails_until{0};

void* allocate(std::size_t size) {
  const std::uint64_t number = made.fetch_add(1);
  if (number >= fails_from.load() && number < fails_until.load()) return nullptr;
  return std::malloc(size == 0 ? 1 : size);
}

void* allocate_or_throw(std::size_t size) {
  if (void* const memory = allocate(size)) return memory;
  throw std::bad_alloc{};
}

}  // namespace

FailingNew::FailingNew(std::uint64_t first, std::uint64_t count) noexcept {
  const std::uint64_t from = made.load() + first;
  fails_until.store(from + count);
  fails_from.store(from);
}
FailingNew::~FailingNew() { fails_from.store(UINT64_MAX); }
bool FailingNew::happened() const noexcept { return made.load() > fails_from.load(); }

}  // namespace pepe

void* operator new(std::size_t size) { return pepe::allocate_or_throw(size); }
void* operator new[](std::size_t size) { return pepe::allocate_or_throw(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return pepe::allocate(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return pepe::allocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
