// What holds for every encoding that is registered.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "pepe/result/codec.h"
#include "support/codec_harness.h"
#include "support/random_result.h"

namespace pepe {
namespace {

constexpr std::uint64_t kSeeds = 500;

// Each byte that is no UTF-8 becomes U+FFFD, as a JSON string can hold nothing else.
std::string as_utf8(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto first = static_cast<unsigned char>(text[0]);
    const std::size_t length = first < 0x80 ? 1 : first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    // Of what random_result() makes, only these are no UTF-8: lone 0xFF and 0xC3, and the surrogate ED A0 80.
    bool valid =
        first != 0xFF && first != 0xA0 && first != 0x80 && text.size() >= length && !text.starts_with("\xed\xa0");
    for (std::size_t i = 1; valid && i < length; ++i) valid = (static_cast<unsigned char>(text[i]) & 0xC0) == 0x80;
    out += valid ? text.substr(0, length) : std::string_view{"\ufffd"};
    text.remove_prefix(valid ? length : 1);
  }
  return out;
}

// Values of one name together, names in order of first appearance or sorted.
void group_headers(RandomResult& result, bool sorted) {
  std::vector<std::pair<std::string, std::string>> grouped;
  std::vector<std::string> names;
  for (const auto& [name, value] : result.headers) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  if (sorted) std::sort(names.begin(), names.end());
  for (const std::string& want : names) {
    for (const auto& header : result.headers) {
      if (header.first == want) grouped.push_back(header);
    }
  }
  result.headers = grouped;
}

// What is left of `result` in the encoding `name`:
// - msgpack keeps everything;
// - the others have no place for lag, bytes read and reuse, and group headers by name;
// - gob has no empty body, and the zero time has no zone;
// - JSON has no bytes that are no UTF-8 but in bodies;
// - CSV has no zones (it is read as local time) and an empty body for none.
RandomResult carried_by(std::string_view name, RandomResult result) {
  if (name == "msgpack") return result;
  result.lag = Nanos{0};
  result.has_lag = false;
  result.bytes_read = 0;
  result.reused = false;
  result.protocol = Protocol::kNone;
  group_headers(result, name == "csv");
  if (name == "gob" && result.body == "") result.body.reset();
  if (name == "json") {
    for (std::string* text : {&result.attack, &result.error, &result.method, &result.url}) *text = as_utf8(*text);
    for (auto& header : result.headers) header.second = as_utf8(header.second);
  }
  if (name == "csv") {
    result.timestamp.zone_minutes = local_zone_minutes(result.timestamp.unix_nanos);
    if (!result.body) result.body = "";
  }
  return result;
}

std::vector<RandomResult> some_results(std::uint64_t seed, std::size_t count) {
  std::vector<RandomResult> results;
  for (std::size_t i = 0; i < count; ++i) results.push_back(random_result(seed * count + i));
  return results;
}

std::vector<RandomResult> carried_by(std::string_view name, std::vector<RandomResult> results) {
  for (RandomResult& result : results) result = carried_by(name, std::move(result));
  return results;
}

TEST(Codecs, RoundTripEveryResult) {
  for (const CodecEntry& codec : codecs()) {
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      SCOPED_TRACE(fmt::format("{} seed {}", codec.name, seed));
      const RandomResult result = random_result(seed);
      const Decoded got = decode_all(codec.make_decoder, encode_all(codec.make_encoder, {result}));
      ASSERT_EQ(got.error, "");
      ASSERT_EQ(got.results.size(), 1U);
      ASSERT_EQ(got.results[0], carried_by(codec.name, result));
    }
  }
}

TEST(Codecs, RoundTripManyResultsInOneStream) {
  const std::vector<RandomResult> results = some_results(7, kSeeds);
  for (const CodecEntry& codec : codecs()) {
    SCOPED_TRACE(codec.name);
    const Decoded got = decode_all(codec.make_decoder, encode_all(codec.make_encoder, results));
    EXPECT_EQ(got.error, "");
    EXPECT_EQ(got.results, carried_by(codec.name, results));
  }
}

TEST(Codecs, DecodeTheSameHoweverTheBytesCome) {
  for (const CodecEntry& codec : codecs()) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const std::string bytes = encode_all(codec.make_encoder, some_results(seed, 8));
      const Decoded whole = decode_all(codec.make_decoder, bytes);
      for (const std::size_t step : {1U, 2U, 7U, 1000U}) {
        SCOPED_TRACE(fmt::format("{} seed {} step {}", codec.name, seed, step));
        ASSERT_EQ(decode_all(codec.make_decoder, bytes, step), whole);
      }
    }
  }
}

TEST(Codecs, ReadStreamsPutOneAfterTheOther) {
  for (const CodecEntry& codec : codecs()) {
    SCOPED_TRACE(codec.name);
    const std::string a = encode_all(codec.make_encoder, some_results(1, 5));
    const std::string b = encode_all(codec.make_encoder, some_results(2, 5));
    const Decoded got = decode_all(codec.make_decoder, a + b);
    std::vector<RandomResult> want = decode_all(codec.make_decoder, a).results;
    for (RandomResult& result : decode_all(codec.make_decoder, b).results) want.push_back(std::move(result));
    EXPECT_EQ(got.error, "");
    EXPECT_EQ(got.results, want);
  }
}

TEST(Codecs, AreDetectedAndNoOthers) {
  for (const CodecEntry& codec : codecs()) {
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      const std::string bytes = encode_all(codec.make_encoder, {random_result(seed)});
      for (const CodecEntry& other : codecs()) {
        const auto want = &other == &codec ? CodecEntry::Match::kYes : CodecEntry::Match::kNo;
        ASSERT_EQ(other.detect(bytes, true), want) << other.name << " on " << codec.name << " seed " << seed;
      }
    }
  }
}

TEST(Codecs, ChangeTheirMindOnlyFromNotYet) {
  for (const CodecEntry& codec : codecs()) {
    for (const CodecEntry& other : codecs()) {
      const std::string bytes = encode_all(codec.make_encoder, some_results(3, 2));
      auto last = CodecEntry::Match::kNeedMore;
      for (std::size_t length = 0; length <= bytes.size(); ++length) {
        const auto match = other.detect(std::string_view{bytes}.substr(0, length), false);
        ASSERT_TRUE(match == last || last == CodecEntry::Match::kNeedMore)
            << other.name << " on the first " << length << " bytes of " << codec.name;
        last = match;
      }
    }
  }
}

/// Where streams of 0, 1, 2, ... of `results` end; texts also without their last line end.
std::vector<std::size_t> ends_of_records(const CodecEntry& codec, const std::vector<RandomResult>& results) {
  std::vector<std::size_t> ends{0};
  for (std::size_t count = 1; count <= results.size(); ++count) {
    ends.push_back(
        encode_all(codec.make_encoder, {results.begin(), results.begin() + static_cast<std::ptrdiff_t>(count)}).size());
    if (codec.name == "json" || codec.name == "csv") ends.push_back(ends.back() - 1);
  }
  return ends;
}

TEST(Codecs, GiveWhatStandsBeforeACutAndSayThatThereIsOne) {
  const std::vector<RandomResult> results = some_results(4, 3);
  for (const CodecEntry& codec : codecs()) {
    const std::string bytes = encode_all(codec.make_encoder, results);
    const std::vector<RandomResult> whole = decode_all(codec.make_decoder, bytes).results;
    // The native stream writes its results in one chunk; gob's definitions come with its first result.
    const std::vector<std::size_t> ends = ends_of_records(codec, results);
    for (std::size_t size = 1; size < bytes.size(); ++size) {
      SCOPED_TRACE(fmt::format("{} cut after {} of {} bytes", codec.name, size, bytes.size()));
      const Decoded got = decode_all(codec.make_decoder, std::string_view{bytes}.substr(0, size));
      ASSERT_LE(got.results.size(), whole.size());
      // Headers are the last column of CSV: that they are cut off is only suspected, and said.
      const std::size_t sure = got.results.size() - (codec.name == "csv" ? got.remarks.size() : 0);
      ASSERT_TRUE(
          std::equal(got.results.begin(), got.results.begin() + static_cast<std::ptrdiff_t>(sure), whole.begin()));
      const bool silent = got.error.empty() && got.damage.empty() && got.remarks.empty();
      const bool may_be_silent =
          std::find(ends.begin(), ends.end(), size) != ends.end() || (codec.name == "gob" && got.results.empty());
      EXPECT_TRUE(may_be_silent || !silent);
    }
  }
}

}  // namespace
}  // namespace pepe
