#include "pepe/result/stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "native_stream.h"
#include "pepe/result/codec.h"
#include "result/crc32c.h"
#include "result/endian.h"

namespace pepe {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Hands out one piece at a call, as a pipe does; then `error`, or the end.
class Pieces {
 public:
  explicit Pieces(std::vector<std::string> pieces, std::string error = {})
      : pieces_{std::move(pieces)}, error_{std::move(error)} {}

  ReadSome reader() {
    return [this](std::span<char> buffer) -> Expected<std::size_t> {
      ++reads;
      if (next_ == pieces_.size()) {
        if (!error_.empty()) return Error{error_};
        return std::size_t{0};
      }
      std::string& piece = pieces_[next_];
      const std::size_t size = std::min(piece.size(), buffer.size());
      std::memcpy(buffer.data(), piece.data(), size);
      piece.erase(0, size);
      if (piece.empty()) ++next_;
      return size;
    };
  }
  int reads{0};

 private:
  std::vector<std::string> pieces_;
  std::string error_;
  std::size_t next_{0};
};

std::vector<std::string> in_pieces(std::string_view bytes, std::size_t size) {
  std::vector<std::string> pieces;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(size, bytes.size()))) pieces.emplace_back(bytes.substr(0, size));
  return pieces;
}

struct ReadAll {
  std::vector<RandomResult> results;
  std::string error;
};

ReadAll read_all(ResultReader& reader) {
  ReadAll all;
  for (;;) {
    const Expected<const Result*> result = reader.next();
    if (!result) {
      all.error = result.error().text();
      EXPECT_EQ(reader.next().value(), nullptr) << "nothing follows an error";
      return all;
    }
    if (*result == nullptr) return all;
    all.results.push_back(copy_of(**result));
  }
}

std::unique_ptr<ResultReader> open_pieces(Pieces& pieces, const std::string& name) {
  auto reader = open_results({name, pieces.reader()}, {}, {});
  EXPECT_TRUE(reader) << reader.error().text();
  return *std::move(reader);
}

std::string native_bytes(std::uint64_t first_seed, std::uint64_t count, std::size_t body_bytes = 0) {
  std::vector<RandomResult> results;
  for (std::uint64_t seed = first_seed; seed < first_seed + count; ++seed) {
    results.push_back(random_result(seed));
    results.back().seq = seed;
    if (body_bytes > 0) results.back().body = std::to_string(seed) + std::string(body_bytes, 'b');
  }
  return encode_all([] { return make_msgpack_encoder(5); }, results);
}

TEST(OpenResults, FindsEveryEncodingInBytesThatTrickleIn) {
  for (const CodecEntry& codec : codecs()) {
    SCOPED_TRACE(codec.name);
    // What all encodings keep alike.
    RandomResult result;
    result.seq = 3;
    result.code = 200;
    result.timestamp = {1'772'323'200'000'000'000, local_zone_minutes(1'772'323'200'000'000'000)};
    result.latency = Nanos{1500};
    result.body = "hello";
    result.method = "GET";
    result.url = "http://a/";
    result.has_headers = true;
    result.headers = {{"X-A", "1"}};
    const std::vector<RandomResult> results(10, result);
    for (const std::size_t size : {std::size_t{1}, std::size_t{7}, std::size_t{100'000}}) {
      Pieces pieces{in_pieces(encode_all(codec.make_encoder, results), size)};
      const ReadAll all = read_all(*open_pieces(pieces, "x"));
      EXPECT_EQ(all.error, "");
      EXPECT_EQ(all.results, results);
    }
  }
}

struct UnknownCase {
  const char* name;
  std::vector<std::string> pieces;
};

class UnknownInput : public ::testing::TestWithParam<UnknownCase> {};

TEST_P(UnknownInput, IsAnErrorWithItsName) {
  Pieces pieces{GetParam().pieces};
  const auto reader = open_results({"in.bin", pieces.reader()}, {}, {});
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().text(), "encode: can't detect encoding of \"in.bin\"");
}

INSTANTIATE_TEST_SUITE_P(Rows, UnknownInput,
                         ::testing::ValuesIn(std::vector<UnknownCase>{
                             {"Empty", {}},
                             {"Prose", {"to be or not", " to be\n"}},
                             {"Zeros", {std::string(100, '\0')}},
                         }),
                         [](const auto& row) { return std::string{row.param.name}; });

TEST(OpenResults, FailsWithTheErrorOfTheFirstRead) {
  Pieces pieces{{}, "read: is a directory"};
  const auto reader = open_results({"dir", pieces.reader()}, {}, {});
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().text(), "dir: read: is a directory");
}

TEST(ResultReader, GivesWhatIsThereBeforeItReadsOn) {
  Pieces pieces{{native_bytes(0, 3), native_bytes(3, 1)}};
  const auto reader = open_pieces(pieces, "x");
  for (std::uint64_t seq = 0; seq < 3; ++seq) {
    EXPECT_EQ(reader->next().value()->seq, seq);
    EXPECT_EQ(pieces.reads, 1);
  }
  EXPECT_EQ(reader->next().value()->seq, 3U);
  EXPECT_EQ(pieces.reads, 2);
}

TEST(ResultReader, GivesAllResultsBeforeAnError) {
  Pieces pieces{{native_bytes(0, 3)}, "read: input/output error"};
  const ReadAll all = read_all(*open_pieces(pieces, "x.bin"));
  EXPECT_EQ(all.results.size(), 3U);
  EXPECT_EQ(all.error, "x.bin: read: input/output error");
}

TEST(ResultReader, NamesTheInputWhoseVersionIsTooNew) {
  std::string head = native_bytes(0, 1);
  head[7] = 2;
  store_big(head.data() + 16, crc32c({head.data(), 16}));
  Pieces pieces{{head}};
  const ReadAll all = read_all(*open_pieces(pieces, "x.bin"));
  EXPECT_THAT(all.error, HasSubstr("x.bin: byte 0: results in version 2 of the format"));
}

TEST(ResultReader, ReadsRecordsLargerThanItsBuffer) {
  const std::string bytes = native_bytes(0, 3, std::size_t{3} << 20);
  Pieces pieces{in_pieces(bytes, 100'000)};
  const ReadAll all = read_all(*open_pieces(pieces, "x"));
  ASSERT_EQ(all.results.size(), 3U);
  EXPECT_EQ(all.results[2].body, "2" + std::string(std::size_t{3} << 20, 'b'));
}

TEST(ResultReader, SaysWhereInTheStreamDamageIs) {
  std::string bytes = native_bytes(0, 400, 2000);
  ASSERT_GT(bytes.size(), 600'000U) << "so that the buffer is filled more than once";
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  Pieces pieces{in_pieces(bytes, 65'536)};
  std::vector<std::string> damage;
  DecoderEvents events;
  events.damage = [&](std::string text) { damage.push_back(std::move(text)); };
  auto reader = open_results({"x", pieces.reader()}, std::move(events), {});
  ASSERT_TRUE(reader);
  read_all(**reader);
  EXPECT_THAT(damage, ElementsAre(HasSubstr(" to " + std::to_string(bytes.size() - 1) + " are lost")));
}

std::vector<std::uint64_t> seqs(const ReadAll& all) {
  std::vector<std::uint64_t> out;
  for (const RandomResult& result : all.results) out.push_back(result.seq);
  return out;
}

TEST(RoundRobin, TakesOneFromEachInTurn) {
  Pieces first{{native_bytes(0, 3)}};
  Pieces second{{native_bytes(100, 1)}};
  Pieces third{{native_bytes(200, 2)}};
  std::vector<std::unique_ptr<ResultReader>> readers;
  for (Pieces* pieces : {&first, &second, &third}) readers.push_back(open_pieces(*pieces, "x"));
  const auto reader = round_robin(std::move(readers));
  const ReadAll all = read_all(*reader);
  EXPECT_EQ(all.error, "");
  EXPECT_THAT(seqs(all), ElementsAre(0, 100, 200, 1, 201, 2));
  EXPECT_EQ(reader->next().value(), nullptr);
}

TEST(RoundRobin, ReadsTheOthersOnAndFailsAtTheEndWithTheFirstError) {
  Pieces good{{native_bytes(0, 3)}};
  Pieces worse{{native_bytes(100, 2)}, "second"};
  Pieces bad{{native_bytes(200, 1)}, "first"};
  std::vector<std::unique_ptr<ResultReader>> readers;
  readers.push_back(open_pieces(good, "good"));
  readers.push_back(open_pieces(worse, "worse"));
  readers.push_back(open_pieces(bad, "bad"));
  const ReadAll all = read_all(*round_robin(std::move(readers)));
  EXPECT_THAT(seqs(all), ElementsAre(0, 100, 200, 1, 101, 2));
  EXPECT_EQ(all.error, "bad: first");
}

TEST(RoundRobin, EndsAtOnceWithoutReaders) { EXPECT_EQ(round_robin({})->next().value(), nullptr); }

TEST(FindCodec, KnowsTheNamesOfTheRegistry) {
  for (const CodecEntry& codec : codecs()) EXPECT_EQ(find_codec(codec.name), &codec);
  EXPECT_EQ(find_codec("xml"), nullptr);
  std::vector<std::string_view> names;
  for (const CodecEntry& codec : codecs()) names.push_back(codec.name);
  EXPECT_THAT(names, ElementsAre("msgpack", "gob", "json", "csv"));
}

}  // namespace
}  // namespace pepe
