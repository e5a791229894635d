// HOT: several times per HTTP/2 hit. No allocation once warm.
#include "engine/block_pool.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace pepe {
namespace {

constexpr std::size_t kSmallestLog2 = 5;
// What a burst left behind goes back to the system beyond this.
constexpr std::size_t kMaxSpareBytes = 16 << 20;

}  // namespace

// Stands in front of each block.
struct alignas(std::max_align_t) BlockPool::Header {
  std::size_t size;   // of the block
  std::size_t index;  // of its class; kClasses: too large for any
};

BlockPool::~BlockPool() {
  for (Spare* spare : spares_) {
    while (spare != nullptr) {
      Spare* const next = spare->next;
      std::free(reinterpret_cast<Header*>(spare) - 1);
      spare = next;
    }
  }
}

void* BlockPool::allocate(std::size_t size) {
  const auto log2 = static_cast<std::size_t>(std::bit_width(std::max<std::size_t>(size, 1) - 1));
  const std::size_t index = std::min(kClasses, std::max(log2, kSmallestLog2) - kSmallestLog2);
  if (index < kClasses) {
    if (Spare* const spare = spares_[index]) {
      spares_[index] = spare->next;
      spare_bytes_ -= std::size_t{1} << (index + kSmallestLog2);
      return spare;
    }
    size = std::size_t{1} << (index + kSmallestLog2);
  }
  if (size > SIZE_MAX - sizeof(Header)) return nullptr;
  auto* const header = static_cast<Header*>(std::malloc(sizeof(Header) + size));
  if (header == nullptr) return nullptr;
  *header = {size, index};
  return header + 1;
}

void BlockPool::deallocate(void* block) {
  if (block == nullptr) return;
  Header* const header = static_cast<Header*>(block) - 1;
  if (header->index == kClasses || spare_bytes_ + header->size > kMaxSpareBytes) return std::free(header);
  spare_bytes_ += header->size;
  auto* const spare = static_cast<Spare*>(block);
  spare->next = spares_[header->index];
  spares_[header->index] = spare;
}

void* BlockPool::reallocate(void* block, std::size_t size) {
  if (block == nullptr) return allocate(size);
  const Header* const header = static_cast<Header*>(block) - 1;
  if (size <= header->size) return block;
  void* const grown = allocate(size);
  if (grown == nullptr) return nullptr;
  std::memcpy(grown, block, header->size);
  deallocate(block);
  return grown;
}

}  // namespace pepe
