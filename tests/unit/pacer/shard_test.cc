#include "pepe/pacer/shard.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

namespace pepe {
namespace {

TEST(Shard, OfOneIsTheWhole) {
  EXPECT_EQ(Shard{}.number_of(7), 7U);
  EXPECT_EQ(Shard{}.part_of(7), 7U);
  EXPECT_EQ(Shard{}.part_of(std::numeric_limits<std::uint64_t>::max()), std::numeric_limits<std::uint64_t>::max());
}

TEST(Shard, PartsMakeTheWholeEachHitOnce) {
  for (std::uint64_t count = 1; count <= 7; ++count) {
    for (std::uint64_t hits = 0; hits <= 30; ++hits) {
      std::set<std::uint64_t> sent;
      std::uint64_t parts = 0;
      for (std::uint64_t index = 0; index < count; ++index) {
        const Shard shard{index, count};
        parts += shard.part_of(hits);
        for (std::uint64_t n = 0; n < shard.part_of(hits); ++n) sent.insert(shard.number_of(n));
        EXPECT_GE(shard.number_of(shard.part_of(hits)), hits);
      }
      EXPECT_EQ(parts, hits);
      EXPECT_EQ(sent.size(), hits);
      EXPECT_TRUE(sent.empty() || *sent.rbegin() == hits - 1);
    }
  }
}

}  // namespace
}  // namespace pepe
