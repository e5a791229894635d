#include "engine/block_pool.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace pepe {
namespace {

constexpr std::size_t kSizes[] = {0, 1, 31, 32, 33, 1000, 32 * 1024, 32 * 1024 + 1, 1 << 20};

TEST(BlockPool, GivesBlocksOfAnySizeThatDoNotOverlap) {
  BlockPool pool;
  std::vector<void*> blocks;
  for (const std::size_t size : kSizes) {
    blocks.push_back(pool.allocate(size));
    ASSERT_NE(blocks.back(), nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(blocks.back()) % alignof(std::max_align_t), 0U);
    std::memset(blocks.back(), static_cast<int>(blocks.size()), size);
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const std::string want(kSizes[i], static_cast<char>(i + 1));
    EXPECT_EQ(std::memcmp(blocks[i], want.data(), kSizes[i]), 0) << kSizes[i];
    pool.deallocate(blocks[i]);
  }
}

TEST(BlockPool, GivesAFreeBlockOfTheSameClassAgain) {
  BlockPool pool;
  void* const first = pool.allocate(100);
  pool.deallocate(first);
  void* const second = pool.allocate(128);
  EXPECT_EQ(second, first);
  void* const third = pool.allocate(128);
  EXPECT_NE(third, first);
  pool.deallocate(second);
  pool.deallocate(third);
}

TEST(BlockPool, KeepsTheBytesOfABlockThatGrows) {
  BlockPool pool;
  void* block = nullptr;
  std::size_t filled = 0;
  for (const std::size_t size : kSizes) {
    block = pool.reallocate(block, size);
    ASSERT_NE(block, nullptr);
    const std::string want(filled, 'x');
    EXPECT_EQ(std::memcmp(block, want.data(), filled), 0) << size;
    std::memset(block, 'x', size);
    filled = size;
  }
  pool.deallocate(block);
}

TEST(BlockPool, HasNoBlockThatIsLargerThanMemory) {
  BlockPool pool;
  EXPECT_EQ(pool.allocate(SIZE_MAX), nullptr);
  pool.deallocate(nullptr);
}

}  // namespace
}  // namespace pepe
