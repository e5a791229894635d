#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "native_stream.h"
#include "result/chunk_format.h"
#include "result/crc32c.h"
#include "result/damage_log.h"
#include "result/endian.h"
#include "result/kept_bodies.h"

namespace pepe {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Four chunks of three results each, as one run writes them, and where each begins.
class DamagedStream : public ::testing::Test {
 protected:
  DamagedStream() {
    ChunkWriter writer{{.run_id = 77}};
    PlainOutcome plain;
    plain.outcome.has_body = true;
    for (std::uint64_t seq = 0; seq < kChunks * kHitsPerChunk; ++seq) {
      if (seq % kHitsPerChunk == 0) starts_.push_back(bytes_.size());
      plain.outcome.stored = writer.store_body("body " + std::to_string(seq / 4));
      plain.outcome.code = static_cast<std::uint16_t>(200 + seq);
      writer.add(writer.intern(plain.outcome), seq, 1'772'323'200'000'000'000 + static_cast<std::int64_t>(seq),
                 Nanos{100'000}, Nanos{5});
      if (seq % kHitsPerChunk == kHitsPerChunk - 1) writer.take(bytes_);
    }
    whole_ = decode_native(bytes_).results;
  }

  // Every result is one of the stream's, in its order, right in each field; only its body may be missing.
  void expect_only_true_results(const Decoded& decoded) const {
    auto from = whole_.begin();
    for (const RandomResult& result : decoded.results) {
      from = std::find_if(from, whole_.end(), [&](const RandomResult& want) { return want.seq == result.seq; });
      ASSERT_NE(from, whole_.end()) << "a result that nobody wrote";
      RandomResult want = *from;
      if (!result.body) want.body.reset();
      ASSERT_EQ(result, want);
    }
  }

  static constexpr std::size_t kChunks = 4;
  static constexpr std::size_t kHitsPerChunk = 3;
  std::string bytes_;
  std::vector<std::size_t> starts_;
  std::vector<RandomResult> whole_;
};

TEST_F(DamagedStream, IsWholeToBeginWith) {
  EXPECT_THAT(whole_, SizeIs(kChunks * kHitsPerChunk));
  EXPECT_THAT(decode_native(bytes_).damage, IsEmpty());
}

TEST_F(DamagedStream, GivesWhatStandsBeforeATornTailAndSaysSo) {
  for (std::size_t size = 0; size < bytes_.size(); ++size) {
    const Decoded decoded = decode_native(std::string_view{bytes_}.substr(0, size));
    const auto chunks =
        static_cast<std::size_t>(std::upper_bound(starts_.begin(), starts_.end(), size) - starts_.begin() - 1);
    EXPECT_EQ(decoded.error, "");
    EXPECT_EQ(decoded.results, std::vector<RandomResult>(whole_.begin(), whole_.begin() + static_cast<std::ptrdiff_t>(
                                                                                              chunks * kHitsPerChunk)));
    if (size == starts_[chunks]) {
      EXPECT_THAT(decoded.damage, IsEmpty());
    } else {
      ASSERT_THAT(decoded.damage, ElementsAre("bytes " + std::to_string(starts_[chunks]) + " to " +
                                              std::to_string(size - 1) + " are lost: the stream ends inside a chunk"));
    }
  }
}

TEST_F(DamagedStream, LosesOneChunkToAFlippedBit) {
  for (std::size_t bit = 0; bit < bytes_.size() * 8; ++bit) {
    std::string flipped = bytes_;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    const Decoded decoded = decode_native(flipped, bit % 2 == 0 ? std::string::npos : 50);
    ASSERT_EQ(decoded.error, "") << bit;
    ASSERT_FALSE(decoded.damage.empty()) << bit;
    const auto chunk =
        static_cast<std::size_t>(std::upper_bound(starts_.begin(), starts_.end(), bit / 8) - starts_.begin());
    const std::size_t end = chunk < starts_.size() ? starts_[chunk] : bytes_.size();
    const std::string lost =
        "bytes " + std::to_string(starts_[chunk - 1]) + " to " + std::to_string(end - 1) + " are lost: ";
    ASSERT_THAT(decoded.damage[0], HasSubstr(lost)) << bit;
    ASSERT_THAT(decoded.results, SizeIs((kChunks - 1) * kHitsPerChunk)) << bit;
    expect_only_true_results(decoded);
  }
}

TEST_F(DamagedStream, GoesOnBehindAMissingOrForeignStretch) {
  for (std::size_t from = 1; from < bytes_.size(); from += 7) {
    std::string cut = bytes_;
    cut.erase(from, 30);
    const Decoded missing = decode_native(cut);
    EXPECT_FALSE(missing.damage.empty()) << from;
    EXPECT_GE(missing.results.size(), (kChunks - 2) * kHitsPerChunk) << from;
    expect_only_true_results(missing);
    std::string mixed = bytes_;
    mixed.insert(from, "\xC1pepe\r\n\x01 something else");
    const Decoded foreign = decode_native(mixed);
    EXPECT_FALSE(foreign.damage.empty()) << from;
    EXPECT_GE(foreign.results.size(), (kChunks - 1) * kHitsPerChunk) << from;
    expect_only_true_results(foreign);
  }
}

TEST_F(DamagedStream, FindsTheStreamBehindATornOne) {
  for (std::size_t size = 1; size < starts_[1]; ++size) {
    const Decoded decoded = decode_native(bytes_.substr(0, size) + bytes_, 64);
    EXPECT_EQ(decoded.results, whole_) << size;
    EXPECT_THAT(decoded.damage, SizeIs(1)) << size;
  }
}

TEST_F(DamagedStream, CountsTheBodiesThatWentWithAChunk) {
  const Decoded decoded = decode_native(std::string_view{bytes_}.substr(starts_[1]));
  ASSERT_THAT(decoded.results, SizeIs(9));
  EXPECT_EQ(decoded.results[0].seq, 3U);
  EXPECT_EQ(decoded.results[0].body, std::nullopt) << "stored in the first chunk";
  EXPECT_EQ(decoded.results[0].bytes_in, 100U);
  EXPECT_EQ(decoded.results[1].body, "body 1");
  EXPECT_THAT(decoded.damage, ElementsAre("the bodies of 1 results are lost: the chunks that they were in are"));
}

TEST_F(DamagedStream, TakesNoBodyOfAnotherRun) {
  ChunkWriter other{{.run_id = 78}};
  other.add(other.intern({.has_body = true, .stored = other.store_body("of another run")}), 0, 0, Nanos{0}, Nanos{0});
  const Decoded decoded = decode_native(taken(other) + bytes_.substr(starts_[1]));
  ASSERT_THAT(decoded.results, SizeIs(10));
  EXPECT_EQ(decoded.results[1].seq, 3U);
  EXPECT_EQ(decoded.results[1].body, std::nullopt);
}

// A server may have sent a native stream itself: what it holds are no results of ours, also when its chunk is damaged.
TEST_F(DamagedStream, IsNotReadWhereItIsTheBodyOfAnAnswer) {
  ChunkWriter writer{{}};
  writer.add(writer.intern({.has_body = true, .body = bytes_}), 1000, 0, Nanos{0}, Nanos{0});
  std::string stream = taken(writer);
  EXPECT_THAT(decode_native(stream).results, SizeIs(1));
  stream.back() = static_cast<char>(stream.back() ^ 1);
  EXPECT_THAT(decode_native(stream).results, IsEmpty());
  EXPECT_THAT(decode_native(stream + stream).results, IsEmpty());
}

TEST_F(DamagedStream, IsRefusedInALaterVersion) {
  std::string later = bytes_.substr(starts_[1]);
  later[7] = 2;
  store_big(later.data() + 16, crc32c({later.data(), 16}));
  const Decoded decoded = decode_native(bytes_.substr(0, starts_[1]) + later);
  EXPECT_EQ(decoded.error, "byte " + std::to_string(starts_[1]) +
                               ": results in version 2 of the format, this pepe reads version 1 only");
  EXPECT_THAT(decoded.results, SizeIs(kHitsPerChunk)) << "those before it are good";
}

// A head that claims more than may be is no reason to wait for it or to set memory aside.
TEST_F(DamagedStream, PassesOverAChunkOfImpossibleLength) {
  std::string head;
  close_chunk(head, open_chunk(head));
  store_big(head.data() + 8, std::uint32_t{0xFFFFFFFF});
  store_big(head.data() + 16, crc32c({head.data(), 16}));
  const Decoded decoded = decode_native(head + bytes_, 40);
  EXPECT_EQ(decoded.results, whole_);
  EXPECT_THAT(decoded.damage, ElementsAre("bytes 0 to 19 are lost: a chunk is longer than the format allows"));
}

// Heads in the payload of heads: each costs a checksum over all that follows, were it not bounded.
TEST(ChunkFinder, GivesUpOnAStreamMadeToKeepItBusy) {
  constexpr std::size_t kBytes = std::size_t{4} << 20;
  std::string stream;
  while (stream.size() < kBytes / 2) {
    const std::size_t payload_at = open_chunk(stream);
    close_chunk(stream, payload_at);
    char* head = stream.data() + payload_at - kChunkHeadBytes;
    store_big(head + 8, static_cast<std::uint32_t>(kBytes - payload_at - 1));
    store_big(head + 12, std::uint32_t{1});
    store_big(head + 16, crc32c({head, 16}));
  }
  stream.resize(kBytes, 'x');
  const Decoded decoded = decode_native(stream);
  EXPECT_THAT(decoded.error, HasSubstr("damaged beyond reading"));
}

TEST(DamageLog, CountsWhatItDoesNotSay) {
  std::vector<std::string> said;
  DamageLog log{[&](std::string text) { said.push_back(std::move(text)); }};
  for (int i = 0; i < 25; ++i) log.add("place " + std::to_string(i));
  log.finish();
  ASSERT_THAT(said, SizeIs(21));
  EXPECT_EQ(said[19], "place 19");
  EXPECT_EQ(said[20], "and 5 more damaged places");
  log.finish();
  EXPECT_THAT(said, SizeIs(21));
}

TEST(KeptBodies, StayUntilTheyAreDroppedOrAnotherRunBegins) {
  KeptBodies kept;
  kept.enter_run(1);
  kept.keep(0, 1, "a");
  kept.keep(1, 1, "b");
  ASSERT_NE(kept.find(1, 1), nullptr);
  EXPECT_EQ(*kept.find(1, 1), "b");
  kept.drop(1, 1);
  EXPECT_EQ(kept.find(1, 1), nullptr);
  kept.enter_run(1);
  EXPECT_NE(kept.find(0, 1), nullptr);
  kept.enter_run(2);
  EXPECT_EQ(kept.find(0, 1), nullptr);
  EXPECT_EQ(kept.bytes(), 0U);
}

TEST(KeptBodies, AreBoundedWhateverAStreamSays) {
  KeptBodies kept;
  const std::string body(std::size_t{1} << 20, 'x');
  for (std::uint64_t id = 1; id <= 300; ++id) kept.keep(0, id, body);
  EXPECT_LE(kept.bytes(), kMaxKeptBodyBytes);
  EXPECT_NE(kept.find(0, 1), nullptr);
  EXPECT_EQ(kept.find(0, 300), nullptr);
  kept.drop(0, 1);
  kept.keep(0, 301, body);
  EXPECT_NE(kept.find(0, 301), nullptr);
}

}  // namespace
}  // namespace pepe
