#include "engine/body_collector.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace pepe {
namespace {

TEST(BodyCollector, CopiesNothingOfABodyThatItKnows) {
  ChunkWriter writer{{}};
  const BodyRef known = writer.store_body("hello world");
  BodyCollector body;
  body.start(known, UINT64_MAX);
  body.append("hello ");
  body.append("world");
  EXPECT_TRUE(body.matches());
  EXPECT_EQ(body.bytes().data(), known.bytes().data());
}

TEST(BodyCollector, TellsBodiesApartAtAnyByte) {
  ChunkWriter writer{{}};
  const std::string known = "hello world";
  const BodyRef candidate = writer.store_body(known);
  for (std::size_t at = 0; at < known.size(); ++at) {
    std::string other = known;
    other[at] = '#';
    BodyCollector body;
    body.start(candidate, UINT64_MAX);
    body.append(std::string_view{other}.substr(0, 4));
    body.append(std::string_view{other}.substr(4));
    EXPECT_FALSE(body.matches());
    EXPECT_EQ(body.bytes(), other);
  }
  BodyCollector shorter;
  shorter.start(candidate, UINT64_MAX);
  shorter.append("hello");
  EXPECT_FALSE(shorter.matches());
  EXPECT_EQ(shorter.bytes(), "hello");
  BodyCollector longer;
  longer.start(candidate, UINT64_MAX);
  longer.append(known + "!");
  EXPECT_FALSE(longer.matches());
  EXPECT_EQ(longer.bytes(), known + "!");
}

TEST(BodyCollector, KeepsNoMoreThanItsLimit) {
  BodyCollector body;
  body.start({}, 7);
  body.append("hello ");
  body.append("world");
  EXPECT_EQ(body.bytes(), "hello w");
  EXPECT_EQ(body.kept(), 7U);
}

constexpr std::size_t kBlock = 64 * 1024;

TEST(BodyCollector, SharesOneBudgetWithTheOthers) {
  BodyBudget budget{4 * kBlock};
  const std::string block(kBlock, 'x');
  BodyCollector first{&budget};
  BodyCollector second{&budget};
  first.start({}, UINT64_MAX);
  second.start({}, UINT64_MAX);
  EXPECT_TRUE(first.append(block));
  EXPECT_TRUE(first.append(block));
  EXPECT_TRUE(second.append(block));
  EXPECT_FALSE(second.append(block + block));
  EXPECT_EQ(second.shortage(),
            "out of memory: the response bodies of all hits in flight are over the limit of 262144 bytes (-max-body "
            "keeps less of each)");
  EXPECT_EQ(second.kept(), 0U);
  EXPECT_EQ(first.bytes(), block + block);
  EXPECT_EQ(first.shortage(), "");
}

TEST(BodyCollector, GivesBackWhatItTook) {
  BodyBudget budget{UINT64_MAX};
  {
    BodyCollector body{&budget};
    body.start({}, UINT64_MAX);
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(body.append(std::string(kBlock, 'x')));
    EXPECT_GE(budget.taken(), 100 * kBlock);
    EXPECT_LE(budget.taken(), 200 * kBlock);
    body.reset();
    EXPECT_EQ(budget.taken(), 0U);
    body.start({}, UINT64_MAX);
    ASSERT_TRUE(body.append(std::string(kBlock, 'x')));
    body.reset();
    EXPECT_EQ(budget.taken(), kBlock) << "the buffer of an ordinary body is kept, and so is its share";
    body.start({}, UINT64_MAX);
    ASSERT_TRUE(body.append(std::string(kBlock, 'x')));
    EXPECT_EQ(budget.taken(), kBlock);
  }
  EXPECT_EQ(budget.taken(), 0U);
}

TEST(BodyCollector, TakesNothingForABodyThatItKnowsOrThatIsSmall) {
  BodyBudget budget{0};
  ChunkWriter writer{{}};
  const std::string text(kBlock, 'x');
  const BodyRef known = writer.store_body(text);
  BodyCollector body{&budget};
  body.start(known, UINT64_MAX);
  EXPECT_TRUE(body.append(text));
  EXPECT_TRUE(body.matches());
  body.start({}, UINT64_MAX);
  EXPECT_TRUE(body.append("small"));
  EXPECT_FALSE(body.append(text));
}

TEST(BodyBudget, IsAPartOfTheMemoryThatThereIs) {
  EXPECT_GT(body_memory_limit(), 0U);
  EXPECT_LT(body_memory_limit(), UINT64_MAX / 4);
}

}  // namespace
}  // namespace pepe
