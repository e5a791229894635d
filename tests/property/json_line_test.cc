// The fast reader of JSON lines against the general one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "result/json_codec.h"
#include "support/codec_harness.h"
#include "support/json_agreement.h"
#include "support/random_result.h"

namespace pepe {
namespace {

constexpr std::uint64_t kSeeds = 500;

constexpr DecodeOptions kOptions[] = {{true, true}, {false, true}, {true, false}, {false, false}};

std::string line_of(const RandomResult& result) {
  std::string line = encode_all(make_json_encoder, {result});
  line.pop_back();
  return line;
}

/// What a mutation puts in: other types, other numbers, other spellings of the same, and what is no JSON.
constexpr std::string_view kPieces[] = {"\"",
                                        "\\",
                                        "\\\"",
                                        "\\/",
                                        "\\b\\f\\n\\r\\t",
                                        "\\u0041",
                                        "\\u00E9",
                                        "\\u20ac",
                                        "\\u0000",
                                        "\\uD83D\\ude00",
                                        "\\ud83d",
                                        "\\udc00",
                                        "\\u12",
                                        "\\u12g4",
                                        "\\u+123",
                                        "\\u 123",
                                        "\\x41",
                                        "\\",
                                        "{",
                                        "}",
                                        "[",
                                        "]",
                                        ",",
                                        ":",
                                        " ",
                                        "\t",
                                        "\r",
                                        "\n",
                                        "null",
                                        "true",
                                        "false",
                                        "NaN",
                                        "Infinity",
                                        "-",
                                        "+",
                                        "0",
                                        "00",
                                        "1",
                                        "-1",
                                        "-0",
                                        "1.5",
                                        "1e3",
                                        "1E+2",
                                        "0x1",
                                        ".5",
                                        "65535",
                                        "65536",
                                        "9223372036854775807",
                                        "9223372036854775808",
                                        "9999999999999999999",
                                        "18446744073709551615",
                                        "18446744073709551616",
                                        "123456789012345678901234567890",
                                        "\"200\"",
                                        "{}",
                                        "[]",
                                        "[[]]",
                                        "{\"a\":{\"b\":[1,{\"c\":null}]}}",
                                        "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
                                        "\xff",
                                        "\xc3",
                                        "\xed\xa0\x80",
                                        "\xc0\xaf",
                                        "\u00e9",
                                        "\u2028",
                                        "\x7f",
                                        "\x01",
                                        "\"seq\":5,",
                                        "\"code\":201,",
                                        "\"Code\":201,",
                                        "\"x\":1,",
                                        "\"headers\":null,",
                                        ",\"headers\":{}",
                                        "\"A\":[\"1\"],",
                                        "\"A\":null,",
                                        "\"A\":[null],",
                                        "\"A\":[],",
                                        "\"A\":\"1\",",
                                        "aGk=",
                                        "aGk",
                                        "=",
                                        "2026-03-01T09:30:00Z",
                                        "/*x*/",
                                        "//"};

/// Breaks a line in one place, at random.
class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_{seed} {}

  std::string mutate(std::string line) {
    const std::size_t at = below(line.size());
    const std::size_t length = below(line.size() - at + 1);
    switch (below(9)) {
      case 0: return line.substr(0, at);
      case 1: return line.erase(at, 1 + below(8));
      case 2: return line.insert(at, piece());
      case 3: return line.replace(at, 1, piece());
      case 4: return line.insert(at, line.substr(at, length));
      case 5: line[at] = static_cast<char>(line[at] ^ 0x20); return line;
      case 6: line[at] = static_cast<char>(random_()); return line;
      case 7: return line.insert(0, 1, ' ').append("\r \t");
      default: return replace_value(std::move(line));
    }
  }

 private:
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  std::string piece() { return std::string{kPieces[below(std::size(kPieces))]}; }

  // A piece in the place of a whole value: what stands between one colon and the next comma.
  std::string replace_value(std::string line) {
    const std::size_t colon = line.find(':', below(line.size()));
    if (colon == std::string::npos) return line;
    const std::size_t comma = std::min(line.find(',', colon), line.size());
    return line.replace(colon + 1, comma - colon - 1, piece());
  }

  std::mt19937_64 random_;
};

TEST(JsonLine, AgreesWithTheGeneralReaderOnWhatIsWritten) {
  for (const DecodeOptions options : kOptions) {
    JsonReaders readers{options};
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed)
      ASSERT_EQ(readers.disagree_on(line_of(random_result(seed))), "");
    // The others have negative latencies, or numbers of twenty digits.
    EXPECT_GT(readers.taken(), kSeeds / 4);
  }
}

TEST(JsonLine, AgreesWithTheGeneralReaderOnBrokenLines) {
  Mutator mutator{1};
  JsonReaders readers;
  std::size_t lines = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const std::string whole = line_of(random_result(seed));
    for (const int most : {1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 3, 8}) {
      std::string line = whole;
      for (int i = 0; i < most && !line.empty(); ++i) line = mutator.mutate(std::move(line));
      ASSERT_EQ(readers.disagree_on(line), "") << "seed " << seed;
      ++lines;
    }
  }
  EXPECT_GT(readers.taken(), lines / 50);
  EXPECT_LT(readers.taken(), lines / 2);
}

// Every byte of a line, in the way of each piece.
TEST(JsonLine, AgreesWithTheGeneralReaderOnAPieceAnywhere) {
  const std::string whole =
      R"({"attack":"a","seq":1,"code":200,"timestamp":"2026-03-01T09:30:00.5Z","latency":1,"bytes_out":0,"bytes_in":5,)"
      R"("error":"","body":"aGk=","method":"GET","url":"u","headers":{"A":["1","2"],"B":["3"]}})";
  JsonReaders readers;
  for (std::size_t at = 0; at <= whole.size(); ++at) {
    ASSERT_EQ(readers.disagree_on(whole.substr(0, at)), "");
    for (const std::string_view piece : kPieces) {
      for (const std::size_t length : {0U, 1U, 2U, 3U}) {
        std::string line = whole;
        ASSERT_EQ(readers.disagree_on(line.replace(at, length, piece)), "");
      }
    }
  }
  EXPECT_GT(readers.taken(), 1000U);
}

}  // namespace
}  // namespace pepe
