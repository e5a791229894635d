#include "result/msgpack_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <msgpack.hpp>
#include <string>
#include <utility>
#include <vector>

#include "golden_results.h"
#include "native_stream.h"

namespace pepe {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(MsgpackCodec, BringsBackEveryResult) {
  std::vector<RandomResult> results = golden_results();
  for (std::uint64_t seed = 0; seed < 2000; ++seed) results.push_back(random_result(seed));
  const std::string bytes = encode_all(make_msgpack_encoder, results);
  for (const std::size_t step : {std::string::npos, std::size_t{4096}, std::size_t{61}}) {
    const Decoded decoded = decode_native(bytes, step);
    EXPECT_EQ(decoded.error, "");
    EXPECT_THAT(decoded.damage, IsEmpty());
    ASSERT_EQ(decoded.results, results) << step;
  }
}

TEST(MsgpackCodec, GivesEachEncoderARunOfItsOwn) {
  EXPECT_NE(encode_all(make_msgpack_encoder, golden_results()), encode_all(make_msgpack_encoder, golden_results()));
}

TEST(MsgpackCodec, ReadsConcatenatedStreamsAsOneAfterTheOther) {
  std::vector<RandomResult> results;
  std::string bytes;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    results.push_back(random_result(seed));
    bytes += encode_all(make_msgpack_encoder, {results.back()});
  }
  EXPECT_EQ(decode_native(bytes).results, results);
}

TEST(MsgpackCodec, ReadsChunksOfSeveralWritersInterleaved) {
  ChunkWriter writers[3]{ChunkWriter{{.writer = 0}}, ChunkWriter{{.writer = 1}}, ChunkWriter{{.writer = 2}}};
  std::string bytes;
  for (std::uint64_t seq = 0; seq < 30; ++seq) {
    ChunkWriter& writer = writers[seq % 3];
    const std::string body = "body of writer " + std::to_string(seq % 3);
    writer.add(writer.intern({.has_body = true, .stored = writer.store_body(body)}), seq, 0, Nanos{0}, Nanos{0});
    writer.take(bytes);
  }
  const Decoded decoded = decode_native(bytes);
  ASSERT_THAT(decoded.results, SizeIs(30));
  for (const RandomResult& result : decoded.results) {
    EXPECT_EQ(result.body, "body of writer " + std::to_string(result.seq % 3));
  }
}

TEST(MsgpackCodec, GivesEqualStringsOfAChunkAsOnePointer) {
  ChunkWriter writer{{}};
  for (std::uint64_t seq = 0; seq < 2; ++seq) {
    writer.add(writer.intern({.url = std::string{"http://a/"}, .code = static_cast<std::uint16_t>(200 + seq)}), seq, 0,
               Nanos{0}, Nanos{0});
  }
  const std::string bytes = taken(writer);
  const auto decoder = make_msgpack_decoder({}, {});
  InputWindow window{.bytes = bytes, .at_end = true};
  Result first;
  Result second;
  ASSERT_TRUE(decoder->next(window, first));
  ASSERT_TRUE(decoder->next(window, second));
  EXPECT_EQ(first.url, "http://a/");
  EXPECT_EQ(first.url.data(), second.url.data());
}

TEST(MsgpackCodec, LeavesOutWhatIsNotAskedFor) {
  ChunkWriter writer{{}};
  PlainOutcome plain;
  plain.outcome.has_body = true;
  plain.outcome.stored = writer.store_body("hello");
  std::string bytes;
  for (std::uint64_t seq = 0; seq < 2; ++seq) {
    writer.add(writer.intern(plain.outcome), seq, 0, Nanos{0}, Nanos{0});
    writer.take(bytes);
  }
  const Decoded decoded = decode_native(bytes, std::string::npos, {.bodies = false, .headers = false});
  EXPECT_THAT(decoded.damage, IsEmpty());
  ASSERT_THAT(decoded.results, SizeIs(2));
  EXPECT_EQ(decoded.results[1].body, std::nullopt);
  EXPECT_EQ(decoded.results[1].bytes_in, 100U);
  EXPECT_TRUE(decoded.results[1].has_headers);
  EXPECT_THAT(decoded.results[1].headers, IsEmpty());
}

struct DetectCase {
  const char* name;
  std::string head;
  bool at_end;
  CodecEntry::Match match;
};

class MsgpackDetection : public ::testing::TestWithParam<DetectCase> {};

TEST_P(MsgpackDetection, TellsANativeStreamByItsFirstBytes) {
  EXPECT_EQ(detect_msgpack(GetParam().head, GetParam().at_end), GetParam().match);
}

INSTANTIATE_TEST_SUITE_P(Heads, MsgpackDetection,
                         ::testing::ValuesIn(std::vector<DetectCase>{
                             {"Magic", "\xC1pepe\r\n\x01", false, CodecEntry::Match::kYes},
                             {"MagicWithAFlippedBit", "\xC1pepd\r\n\x01", false, CodecEntry::Match::kYes},
                             {"LaterVersion", "\xC1pepe\r\n\x02", false, CodecEntry::Match::kYes},
                             {"PartOfIt", "\xC1pep", false, CodecEntry::Match::kNeedMore},
                             {"NothingYet", "", false, CodecEntry::Match::kNeedMore},
                             {"CutMagic", "\xC1pep", true, CodecEntry::Match::kYes},
                             {"Empty", "", true, CodecEntry::Match::kNo},
                             {"Json", "{\"attack\":", false, CodecEntry::Match::kNo},
                             {"Csv", "1772323200", false, CodecEntry::Match::kNo},
                             {"OneByteOfGob", "\x7F", false, CodecEntry::Match::kNo},
                             {"MagicInText", "xC1pepe", false, CodecEntry::Match::kNo},
                         }),
                         [](const auto& row) { return std::string{row.param.name}; });

/// The msgpack form of a value.
template <class Value>
std::string packed(const Value& value) {
  msgpack::sbuffer buffer;
  msgpack::pack(buffer, value);
  return {buffer.data(), buffer.size()};
}

using Numbers = std::vector<std::int64_t>;
using Names = std::vector<std::string>;

/// A payload, value by value, so that a test can change one.
class Payload {
 public:
  Payload() {
    set("run", packed(1));
    set("strings", packed(Names{"GET"}));
    set("outcome_columns", packed(Names{"method", "code"}));
    set("outcomes", packed(Numbers{0, 200}));
    set("seq", packed(10));
    set("columns", packed(Names{"outcome", "seq", "latency"}));
    set("hits", packed(Numbers{0, 0, 5, 0, 1, 6}));
  }

  Payload& set(const std::string& name, const std::string& value) {
    for (auto& [known, old] : values_) {
      if (known == name) return old = value, *this;
    }
    values_.emplace_back(name, value);
    return *this;
  }
  Payload& remove(const std::string& name) {
    std::erase_if(values_, [&](const auto& pair) { return pair.first == name; });
    return *this;
  }
  std::string chunk() const {
    msgpack::sbuffer head;
    msgpack::packer<msgpack::sbuffer>{head}.pack_map(static_cast<std::uint32_t>(values_.size()));
    std::string bytes{head.data(), head.size()};
    for (const auto& [name, value] : values_) bytes += packed(name) + value;
    return framed(bytes);
  }

 private:
  std::vector<std::pair<std::string, std::string>> values_;
};

TEST(MsgpackCodec, ReadsAChunkThatHasOnlySomeColumns) {
  const Decoded decoded = decode_native(Payload{}.chunk());
  EXPECT_THAT(decoded.damage, IsEmpty());
  ASSERT_THAT(decoded.results, SizeIs(2));
  EXPECT_EQ(decoded.results[1].method, "GET");
  EXPECT_EQ(decoded.results[1].code, 200);
  EXPECT_EQ(decoded.results[1].seq, 11U);
  EXPECT_EQ(decoded.results[1].latency, Nanos{6});
  EXPECT_FALSE(decoded.results[1].has_headers);
}

TEST(MsgpackCodec, PassesOverKeysAndColumnsThatItDoesNotKnow) {
  const std::string deep = std::string(5000, '\x91') + '\x01';
  const std::string extension{"\xC7\x02\x05zz", 5};
  Payload payload;
  payload.set("colour", packed(std::vector<Names>{{"red"}, {"blue"}})).set("deep", deep).set("extension", extension);
  payload.set("float", packed(1.5)).set("nothing", "\xC0").set("yes", packed(true));
  payload.set("outcome_columns", packed(Names{"weight", "method", "code"})).set("outcomes", packed(Numbers{7, 0, 200}));
  payload.set("columns", packed(Names{"outcome", "height", "seq", "latency", "depth"}));
  payload.set("hits", packed(Numbers{0, 99, 0, 5, -1, 0, 99, 1, 6, -1}));
  const Decoded decoded = decode_native(payload.chunk());
  EXPECT_THAT(decoded.damage, IsEmpty());
  EXPECT_EQ(decoded.results, decode_native(Payload{}.chunk()).results);
}

TEST(MsgpackCodec, ReadsTheValuesOfAChunkInAnyOrder) {
  Payload payload;
  payload.remove("strings").remove("columns");
  payload.set("columns", packed(Names{"outcome", "seq", "latency"})).set("strings", packed(Names{"GET"}));
  EXPECT_EQ(decode_native(payload.chunk()).results, decode_native(Payload{}.chunk()).results);
}

struct MalformedCase {
  const char* name;
  std::function<std::string()> chunk;
  std::size_t results;  ///< Before the malformed place.
  const char* says;
};

class MalformedChunk : public ::testing::TestWithParam<MalformedCase> {};

TEST_P(MalformedChunk, IsReportedAndPassedOver) {
  const std::string good = Payload{}.chunk();
  const Decoded decoded = decode_native(good + GetParam().chunk() + good);
  EXPECT_EQ(decoded.error, "");
  ASSERT_THAT(decoded.damage, ElementsAre(HasSubstr(GetParam().says)));
  EXPECT_THAT(decoded.damage[0], HasSubstr("chunk at byte " + std::to_string(good.size())));
  EXPECT_THAT(decoded.results, SizeIs(2 + GetParam().results + 2));
}

std::string with(const std::string& name, const std::string& value) { return Payload{}.set(name, value).chunk(); }
std::string without(const std::string& name) { return Payload{}.remove(name).chunk(); }

const MalformedCase kMalformedCases[] = {
    {"NoMap",
     [] {
       return framed(packed(Numbers{1, 2}));
     },
     0, "not a map"},
    {"Empty", [] { return framed(""); }, 0, "not a map"},
    {"CutMap", [] { return framed("\x8F\xA3run\x01"); }, 0, "not a map"},
    {"NumberAsKey", [] { return framed("\x81\x01\x01"); }, 0, "not a map"},
    {"TextAsSeq", [] { return with("seq", packed("ten")); }, 0, "not a map"},
    {"NoColumns", [] { return without("columns"); }, 0, "bad columns"},
    {"TooManyColumns", [] { return with("columns", packed(Names(65, "x"))); }, 0, "bad columns"},
    {"NumberAsColumn", [] { return with("columns", packed(Numbers{1})); }, 0, "bad columns"},
    {"NoOutcomeColumn",
     [] {
       return with("columns", packed(Names{"seq", "due", "lag"}));
     },
     0, "no outcome column"},
    {"NoOutcomeColumns", [] { return without("outcome_columns"); }, 0, "bad outcome columns"},
    {"NoOutcomes", [] { return without("outcomes"); }, 0, "bad outcomes"},
    {"CutOutcome",
     [] {
       return with("outcomes", packed(Numbers{0, 200, 0}));
     },
     0, "bad outcomes"},
    {"TextInOutcomes",
     [] {
       return with("outcomes", packed(Names{"a", "b"}));
     },
     0, "bad outcomes"},
    {"NoStrings", [] { return without("strings"); }, 0, "bad strings"},
    {"NumberAsString", [] { return with("strings", packed(Numbers{1})); }, 0, "bad strings"},
    {"StringOutOfRange",
     [] {
       return with("outcomes", packed(Numbers{1, 200}));
     },
     0, "string that is not there"},
    {"CodeOutOfRange",
     [] {
       return with("outcomes", packed(Numbers{0, 65536}));
     },
     0, "out of range"},
    {"NegativeCode",
     [] {
       return with("outcomes", packed(Numbers{0, -2}));
     },
     0, "out of range"},
    {"OddHeaderBlock", [] { return with("headers", packed(std::vector<Numbers>{{0}})); }, 0, "bad headers"},
    {"HeaderOutOfRange",
     [] {
       return with("headers", packed(std::vector<Numbers>{{0, 1}}));
     },
     0, "bad headers"},
    {"HeadersAreText", [] { return with("headers", packed("x")); }, 0, "bad headers"},
    {"OddBodies", [] { return with("bodies", packed(Numbers{1})); }, 0, "bad bodies"},
    {"NumberAsBody",
     [] {
       return with("bodies", packed(Numbers{1, 2}));
     },
     0, "bad bodies"},
    {"HitsAreText", [] { return with("hits", packed("x")); }, 0, "bad hits"},
    {"CutRow",
     [] {
       return with("hits", packed(Numbers{0, 0, 5, 0}));
     },
     0, "bad hits"},
    {"OutcomeOutOfRange",
     [] {
       return with("hits", packed(Numbers{0, 0, 5, 1, 1, 6}));
     },
     1, "bad hits"},
    {"NegativeOutcome",
     [] {
       return with("hits", packed(Numbers{0, 0, 5, -1, 1, 6}));
     },
     1, "bad hits"},
    {"TextInHits",
     [] {
       return with("hits", std::string{"\x96\x00\x00\x05\x00\xA1x\x06", 8});
     },
     1, "bad hits"},
    {"HitsCutShort",
     [] {
       return with("hits", std::string{"\x99\x00\x00\x05\x00\x01\x06", 7});
     },
     0, "bad hits"},
    {"MoreBehindTheHits",
     [] {
       return with("hits", packed(Numbers{0, 0, 5}) + "\x07");
     },
     1, "bad hits"},
    {"FactsAreText",
     [] {
       return framed(
           "\x81\xA5"
           "facts\xA1x");
     },
     0, "bad facts"},
};

INSTANTIATE_TEST_SUITE_P(Rows, MalformedChunk, ::testing::ValuesIn(kMalformedCases),
                         [](const auto& row) { return std::string{row.param.name}; });

}  // namespace
}  // namespace pepe
