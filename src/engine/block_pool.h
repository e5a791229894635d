#pragma once

#include <array>
#include <cstddef>

namespace pepe {

/// Memory for a C library that takes and gives back many small blocks: they are kept by size, so that a
/// worker which is warm asks the system for none. Not thread-safe.
class BlockPool {
 public:
  BlockPool() = default;
  BlockPool(const BlockPool&) = delete;
  /// REQUIRES: every block was given back.
  ~BlockPool();

  /// As malloc, free and realloc; nullptr: no memory.
  void* allocate(std::size_t size);
  void deallocate(void* block);
  void* reallocate(void* block, std::size_t size);

 private:
  struct Header;
  struct Spare {
    Spare* next;
  };
  static constexpr std::size_t kClasses = 11;  // 32 bytes to 32 KB

  std::array<Spare*, kClasses> spares_{};
  std::size_t spare_bytes_{0};
};

}  // namespace pepe
