#include "pepe/result/chunk_writer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "native_stream.h"

namespace pepe {
namespace {

constexpr std::int64_t kStart = 1'772'323'200'000'000'000;

std::string random_bytes(std::mt19937& random, std::size_t size) {
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

TEST(ChunkWriter, TakesNothingWithoutHits) {
  ChunkWriter writer{{}};
  const OutcomeId id = writer.intern({.method = "GET"});
  EXPECT_EQ(writer.size(), 0U);
  EXPECT_FALSE(writer.full());
  EXPECT_EQ(taken(writer), "");
  EXPECT_TRUE(writer.is_current(id)) << "an empty chunk stays open";
}

TEST(ChunkWriter, FindsAnOutcomeOfTheOpenChunkAgain) {
  ChunkWriter writer{{}};
  const PlainOutcome plain;
  const OutcomeId first = writer.intern(plain.outcome);
  const OutcomeId again = writer.intern(plain.outcome);
  EXPECT_EQ(first.index, again.index);
  EXPECT_EQ(first.chunk, again.chunk);
  Outcome other = plain.outcome;
  other.code = 201;
  EXPECT_NE(writer.intern(other).index, first.index);
}

TEST(ChunkWriter, ForgetsItsOutcomesWhenAChunkIsTaken) {
  ChunkWriter writer{{}};
  EXPECT_FALSE(writer.is_current(OutcomeId{}));
  const OutcomeId id = writer.intern({});
  EXPECT_TRUE(writer.is_current(id));
  writer.add(id, 0, kStart, Nanos{1}, Nanos{0});
  EXPECT_NE(taken(writer), "");
  EXPECT_FALSE(writer.is_current(id));
}

TEST(ChunkWriter, IsFullFromItsSizeOn) {
  ChunkWriter writer{{.chunk_bytes = 4096}};
  const OutcomeId id = writer.intern({});
  std::size_t hits = 0;
  for (; !writer.full(); ++hits) writer.add(id, hits, kStart, Nanos{100'000}, Nanos{0});
  const std::size_t size = writer.size();
  EXPECT_GE(size, 4096U);
  EXPECT_LT(size, 4096U + 64U);
  const std::string chunk = taken(writer);
  EXPECT_LE(chunk.size(), size) << "size() is the most that the chunk can have";
  EXPECT_EQ(decode_native(chunk).results.size(), hits);
}

TEST(ChunkWriter, KeepsThePlacesOfHitsInOrderOfCompletion) {
  ChunkWriter writer{{}};
  const OutcomeId id = writer.intern({});
  const std::vector<std::uint64_t> order{5, 3, 4, 0, 1000, 2, 1};
  for (const std::uint64_t seq : order)
    writer.add(id, seq, kStart + static_cast<std::int64_t>(seq) * 7, Nanos{1}, Nanos{3});
  const Decoded decoded = decode_native(taken(writer));
  ASSERT_EQ(decoded.results.size(), order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    EXPECT_EQ(decoded.results[i].seq, order[i]);
    EXPECT_EQ(decoded.results[i].timestamp.unix_nanos, kStart + static_cast<std::int64_t>(order[i]) * 7);
  }
}

// One chunk per 200 ms, latencies of 80 to 480 µs, sent up to 120 µs late: the load that the size is promised for.
TEST(ChunkWriter, NeedsAtMost16BytesForAPlainHitAt5000PerSecond) {
  constexpr std::int64_t kHits = 50'000;
  ChunkWriter writer{{.run_id = UINT64_MAX}};
  const PlainOutcome plain;
  std::mt19937 random{1};
  std::string out;
  for (std::int64_t i = 0; i < kHits; ++i) {
    const Nanos lag{random() % 120'000};
    const OutcomeId id = writer.intern(plain.outcome);
    writer.add(id, static_cast<std::uint64_t>(i), kStart + i * 200'000 + lag.count(),
               Nanos{80'000 + random() % 400'000}, lag);
    if (i % 1000 == 999) writer.take(out);
  }
  EXPECT_LE(out.size(), kHits * 16U);
  EXPECT_LE(out.size(), kHits * 13U) << "the schedule predicts when a hit is due, so that its place takes a byte";
  EXPECT_EQ(decode_native(out).results.size(), static_cast<std::size_t>(kHits));
}

TEST(ChunkWriter, WritesARepeatedBodyOnce) {
  std::mt19937 random{2};
  const std::string body = random_bytes(random, 130'780);
  ChunkWriter writer{{}};
  std::string out;
  Outcome outcome;
  outcome.has_body = true;
  outcome.bytes_in = body.size();
  for (std::uint64_t i = 0; i < 1500; ++i) {
    outcome.stored = writer.store_body(body);
    writer.add(writer.intern(outcome), i, kStart, Nanos{500'000}, Nanos{0});
    if (writer.full()) writer.take(out);
  }
  writer.take(out);
  EXPECT_LT(out.size(), 200'000U);
  const Decoded decoded = decode_native(out);
  ASSERT_EQ(decoded.results.size(), 1500U);
  for (const RandomResult& result : decoded.results) ASSERT_EQ(result.body, body);
}

TEST(ChunkWriter, StoresBodiesAnewThatHadToGo) {
  std::mt19937 random{3};
  std::vector<std::string> bodies;
  for (int i = 0; i < 40; ++i) bodies.push_back(random_bytes(random, 1 + random() % 6000));
  ChunkWriter writer{{.chunk_bytes = 8192, .body_table_bytes = 32 * 1024}};
  std::vector<const std::string*> wanted;
  std::string out;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    wanted.push_back(&bodies[random() % bodies.size()]);
    Outcome outcome;
    outcome.has_body = true;
    outcome.stored = writer.store_body(*wanted.back());
    outcome.body = *wanted.back();
    writer.add(writer.intern(outcome), i, kStart, Nanos{0}, Nanos{0});
    if (writer.full()) writer.take(out);
  }
  writer.take(out);
  const Decoded decoded = decode_native(out);
  EXPECT_TRUE(decoded.damage.empty());
  ASSERT_EQ(decoded.results.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) ASSERT_EQ(decoded.results[i].body, *wanted[i]) << i;
}

TEST(ChunkWriter, KeepsBodiesThatAreInUse) {
  ChunkWriter writer{{.body_table_bytes = 8192}};
  const BodyRef used = writer.store_body(std::string(1000, 'a'));
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(writer.store_body(std::string(1000, 'b') + std::to_string(i)));
  EXPECT_EQ(writer.store_body(std::string(1000, 'a')), used);
  EXPECT_EQ(used.bytes(), std::string(1000, 'a'));
}

TEST(ChunkWriter, StoresNothingWhenAllBodiesAreInUse) {
  ChunkWriter writer{{.body_table_bytes = 8192}};
  std::vector<BodyRef> used;
  for (int i = 0; i < 200; ++i) used.push_back(writer.store_body(std::string(1000, 'b') + std::to_string(i)));
  EXPECT_TRUE(used.front());
  EXPECT_FALSE(used.back());
  used.clear();
  EXPECT_TRUE(writer.store_body(std::string(1000, 'c')));
}

TEST(ChunkWriter, TakesBodiesInlineThatAreTooLargeForTheTable) {
  ChunkWriter writer{{.body_table_bytes = 8192}};
  const std::string large(3000, 'x');
  EXPECT_FALSE(writer.store_body(large));
  const OutcomeId id = writer.intern({.has_body = true, .body = large});
  writer.add(id, 0, kStart, Nanos{0}, Nanos{0});
  const std::string with_body = taken(writer);
  writer.add(writer.intern({}), 1, kStart, Nanos{0}, Nanos{0});
  const std::string without = taken(writer);
  EXPECT_EQ(decode_native(with_body).results.at(0).body, large);
  EXPECT_LT(without.size(), 512U);
}

TEST(ChunkWriter, TellsNoBodyFromAnEmptyOne) {
  ChunkWriter writer{{}};
  writer.add(writer.intern({.has_body = false}), 0, kStart, Nanos{0}, Nanos{0});
  writer.add(writer.intern({.has_body = true}), 1, kStart, Nanos{0}, Nanos{0});
  const Decoded decoded = decode_native(taken(writer));
  EXPECT_EQ(decoded.results.at(0).body, std::nullopt);
  EXPECT_EQ(decoded.results.at(1).body, "");
}

struct ExtremeCase {
  const char* name;
  std::uint64_t seq;
  std::int64_t unix_nanos;
  std::int64_t latency;
  std::int64_t lag;
};

class ExtremeHits : public ::testing::TestWithParam<ExtremeCase> {};

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

// Each is written between two ordinary hits, so that it is told by a difference and others are told by one to it.
TEST_P(ExtremeHits, ComeBackExactly) {
  const ExtremeCase& extreme = GetParam();
  ChunkWriter writer{{}};
  const OutcomeId id = writer.intern({});
  const auto add_both = [&] {
    writer.add(id, 1, kStart, Nanos{1}, Nanos{0});
    writer.add(id, extreme.seq, extreme.unix_nanos, Nanos{extreme.latency}, Nanos{extreme.lag});
  };
  add_both();
  add_both();
  std::string out = taken(writer);
  const OutcomeId later = writer.intern({});
  writer.add(later, extreme.seq, extreme.unix_nanos, Nanos{extreme.latency}, Nanos{extreme.lag});
  writer.take(out);
  const Decoded decoded = decode_native(out);
  ASSERT_EQ(decoded.results.size(), 5U);
  for (const std::size_t i : {1U, 3U, 4U}) {
    EXPECT_EQ(decoded.results[i].seq, extreme.seq);
    EXPECT_EQ(decoded.results[i].timestamp.unix_nanos, extreme.unix_nanos);
    EXPECT_EQ(decoded.results[i].latency.count(), extreme.latency);
    EXPECT_EQ(decoded.results[i].lag.count(), extreme.lag);
  }
  EXPECT_EQ(decoded.results[2].timestamp.unix_nanos, kStart);
}

INSTANTIATE_TEST_SUITE_P(Ranges, ExtremeHits,
                         ::testing::ValuesIn(std::vector<ExtremeCase>{
                             {"LastSeq", UINT64_MAX, kStart, 0, 0},
                             {"ZeroTime", 2, kZeroTime, 0, 0},
                             {"LeastTime", 2, kLeast, 0, 0},
                             {"MostTime", 2, kMost, 0, 0},
                             {"LeastLatency", 2, kStart, kLeast, 0},
                             {"MostLatency", 2, kStart, kMost, 0},
                             {"LeastLag", 2, kStart, 0, kLeast},
                             {"MostLag", 2, kStart, 0, kMost},
                             {"AllAtOnce", UINT64_MAX, kLeast, kLeast, kMost},
                         }),
                         [](const auto& row) { return std::string{row.param.name}; });

TEST(ChunkWriter, CutsHeaderBlocksBeyondTheLimit) {
  const std::vector<HeaderView> many(kMaxFieldsPerBlock + 10, HeaderView{"X-A", "1"});
  ChunkWriter writer{{}};
  writer.add(writer.intern({.headers = many, .has_headers = true}), 0, kStart, Nanos{0}, Nanos{0});
  const Decoded decoded = decode_native(taken(writer));
  ASSERT_EQ(decoded.results.size(), 1U);
  EXPECT_EQ(decoded.results[0].headers.size(), kMaxFieldsPerBlock);
}

}  // namespace
}  // namespace pepe
