#include "result/json_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "golden_results.h"
#include "support/codec_harness.h"

namespace pepe {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Headers = std::vector<std::pair<std::string, std::string>>;

// The only result of `line`, which is read without an error.
RandomResult only(const std::string& line) {
  const Decoded got = decode_all(make_json_decoder, line + "\n");
  EXPECT_EQ(got.error, "");
  EXPECT_EQ(got.results.size(), 1U);
  return got.results.empty() ? RandomResult{} : got.results[0];
}

TEST(JsonCodec, WritesWhatVegetaWrites) {
  EXPECT_EQ(encode_all(make_json_encoder, golden_results()), golden("results.json"));
}

TEST(JsonCodec, ReadsWhatVegetaWrites) {
  const Decoded got = decode_all(make_json_decoder, golden("results.json"));
  EXPECT_EQ(got.error, "");
  EXPECT_EQ(got.results, golden_results());
}

struct EscapeCase {
  const char* name;
  std::string value;
  const char* want;
};

TEST(JsonCodec, EscapesAsGoDoes) {
  const EscapeCase cases[] = {
      {"Short", "\"\\\t\r\n", R"(\"\\\t\r\n)"},
      {"Controls", std::string{"\0\b\f\x1f\x7f", 5}, "\\u0000\\u0008\\u000c\\u001f\x7f"},
      {"Html", "<a>&/'", R"(\u003ca\u003e\u0026/')"},
      {"LineSeparators", "\u2028\u2029\u2027", "\\u2028\\u2029\u2027"},
      {"PlainUtf8", "\u00e9\u4e16\U0001f600", "\u00e9\u4e16\U0001f600"},
      {"BytesThatAreNone", "a\xff\xc3(\xe2\x80", "a\\ufffd\\ufffd(\\ufffd\\ufffd"},
      {"Surrogate", "\xed\xa0\x80", "\\ufffd\\ufffd\\ufffd"},
      {"TooLong", "\xc0\xaf", "\\ufffd\\ufffd"},
  };
  for (const EscapeCase& row : cases) {
    RandomResult result;
    result.error = row.value;
    EXPECT_THAT(encode_all(make_json_encoder, {result}),
                HasSubstr(std::string{",\"error\":\""} + row.want + "\",\"body\""))
        << row.name;
  }
}

TEST(JsonCodec, GroupsTheValuesOfAName) {
  RandomResult result;
  result.has_headers = true;
  result.headers = {{"B", "1"}, {"A", "<"}, {"B", "3"}};
  EXPECT_THAT(encode_all(make_json_encoder, {result}), HasSubstr(R"("headers":{"B":["1","3"],"A":["\u003c"]}})"));
}

TEST(JsonCodec, PrintsEachResultsOwnHeadersAndTime) {
  RandomResult a;
  a.has_headers = true;
  a.headers = {{"A", "1"}};
  a.timestamp = {1'000'000'000, 0};
  RandomResult b = a;
  b.headers = {{"A1", ""}};  // The same bytes, end to end.
  b.timestamp = {1'500'000'000, 60};
  RandomResult c = b;
  c.headers.clear();
  c.has_headers = false;
  c.timestamp = {1'000'000'001, 60};
  const Decoded got = decode_all(make_json_decoder, encode_all(make_json_encoder, {a, b, c, a}));
  EXPECT_THAT(got.results, ElementsAre(a, b, c, a));
}

TEST(JsonCodec, ReadsFieldsInAnyOrderAndSkipsUnknownOnes) {
  const RandomResult got = only(
      R"( {"extra":{"code":[1,"x",{"seq":[-1.5e3,true,null]}]},"url":"u","code" : 201, "Code":5, "seq":18446744073709551615,)"
      R"("latency":-9223372036854775808,"attack":"\u00e9\ud83d\ude00\/","error":null,"timestamp":"2024-01-01T02:00:00.500+02:00"} )");
  RandomResult want;
  want.url = "u";
  want.code = 201;
  want.seq = UINT64_MAX;
  want.latency = Nanos::min();
  want.attack = "\u00e9\U0001f600/";
  want.timestamp = {1'704'067'200'500'000'000, 120};
  EXPECT_EQ(got, want);
}

TEST(JsonCodec, TakesNullForZero) {
  RandomResult zero;
  zero.timestamp.unix_nanos = kZeroTime;
  EXPECT_EQ(only("{}"), zero);
  EXPECT_EQ(
      only(R"({"attack":null,"seq":null,"code":null,"timestamp":null,"latency":null,"bytes_out":null,"bytes_in":null,)"
           R"("error":null,"body":null,"method":null,"url":null,"headers":null})"),
      zero);
}

TEST(JsonCodec, TellsAnEmptyBodyFromNone) {
  EXPECT_EQ(only(R"({"body":""})").body, "");
  EXPECT_EQ(only(R"({"body":"aGk="})").body, "hi");
}

TEST(JsonCodec, KeepsHeaderNamesAsTheyAre) {
  const RandomResult got = only(R"({"headers":{"x-low":["1","2"],"Empty":[],"None":null,"A":[null]}})");
  EXPECT_TRUE(got.has_headers);
  EXPECT_EQ(got.headers, (Headers{{"x-low", "1"}, {"x-low", "2"}, {"A", ""}}));
  EXPECT_TRUE(only(R"({"headers":{}})").has_headers);
}

TEST(JsonCodec, LeavesBodiesOutWhenTheyAreNotWanted) {
  const Decoded got = decode_all(make_json_decoder, golden("results.json"), std::string_view::npos, {false, true});
  ASSERT_EQ(got.results.size(), 4U);
  EXPECT_EQ(got.results[0].body, std::nullopt);
  EXPECT_EQ(got.results[0].bytes_in, 5U);
}

struct LinesCase {
  const char* name;
  std::string bytes;
  std::size_t results;
};

TEST(JsonCodec, ReadsLinesHoweverTheyEnd) {
  const LinesCase cases[] = {
      {"TwoLines", "{}\n{}\n", 2},
      {"NoLastLineEnd", "{}\n{}", 2},
      {"CarriageReturns", "{}\r\n{}\r\n", 2},
      {"BlankLines", "\n\n{}\n \n{}\n\n", 2},
      {"ByteOrderMark", "\xEF\xBB\xBF{}\n", 1},
      {"Nothing", "", 0},
      {"OnlyBlankLines", "\n \r\n", 0},
  };
  for (const LinesCase& row : cases) {
    for (const std::size_t step : {std::string_view::npos, std::size_t{1}}) {
      const Decoded got = decode_all(make_json_decoder, row.bytes, step);
      EXPECT_EQ(got.error, "") << row.name;
      EXPECT_EQ(got.results.size(), row.results) << row.name;
      EXPECT_THAT(got.damage, IsEmpty()) << row.name;
      EXPECT_THAT(got.remarks, IsEmpty()) << row.name;
    }
  }
}

TEST(JsonCodec, SaysThatTheLastLineIsCut) {
  const std::string bytes = golden("results.json");
  const std::size_t last_line = bytes.rfind('\n', bytes.size() - 2) + 1;
  for (std::size_t cut = last_line + 1; cut < bytes.size() - 1; ++cut) {
    SCOPED_TRACE(cut);
    const Decoded got = decode_all(make_json_decoder, std::string_view{bytes}.substr(0, cut));
    EXPECT_EQ(got.error, "");
    EXPECT_EQ(got.results.size(), 3U);
    EXPECT_THAT(got.remarks, ElementsAre(HasSubstr("json:4: the last line is cut")));
    EXPECT_THAT(got.damage, IsEmpty());
  }
}

// Whether the end of a file is known with its last bytes or only after them depends on who reads.
TEST(JsonCodec, TakesNoOtherTextForALineThatWasCut) {
  for (const std::size_t step : {std::string_view::npos, std::size_t{1}}) {
    const Decoded got = decode_all(make_json_decoder, "{}\n[1,2", step);
    EXPECT_EQ(got.error, "json:2: not an object");
    EXPECT_EQ(got.results.size(), 1U);
  }
}

struct BadCase {
  const char* name;
  std::string line;
  const char* want;  // Part of the error text.
};

TEST(JsonCodec, RefusesWithTheLineAndTheField) {
  std::string deep;
  for (int i = 0; i < 10000; ++i) deep += "[";
  const BadCase cases[] = {
      {"NotClosed", R"({"code":1)", "json:2: Missing a comma or '}' after an object member"},
      {"NoJson", "garbage", "json:2: Invalid value"},
      {"Array", "[]", "json:2: not an object"},
      {"Number", "5", "not an object"},
      {"Null", "null", "not an object"},
      {"TwoObjects", "{}{}", "must not be followed by other values"},
      {"NulByte", std::string{"{}\0{}", 5}, "a NUL byte (column 3)"},
      {"CodeTooLarge", R"({"code":65536})", "field code: above 65535"},
      {"CodeIsNegative", R"({"code":-1})", "field code: want no negative number"},
      {"CodeIsAFraction", R"({"code":200.0})", "field code: want no fraction"},
      {"CodeIsText", R"({"code":"200"})", "field code: want no text"},
      {"SeqTooLarge", R"({"seq":18446744073709551616})", "field seq: want no fraction"},
      {"LatencyTooLarge", R"({"latency":9223372036854775808})", "field latency: beyond 64 bits"},
      {"ErrorIsANumber", R"({"error":1})", "field error: want no number"},
      {"ErrorIsTrue", R"({"error":true})", "field error: want no truth value"},
      {"ErrorIsAnObject", R"({"error":{}})", "field error: want no object"},
      {"UrlIsAnArray", R"({"url":["a"]})", "field url: want no array"},
      {"BodyIsNoBase64", R"({"body":"*"})", "field body: illegal base64 data at input byte 0"},
      {"TimestampIsNone", R"({"timestamp":"yesterday"})", "field timestamp: bad time \"yesterday\""},
      {"HeadersAreAnArray", R"({"headers":[]})", "field headers: want no array"},
      {"HeaderIsText", R"({"headers":{"A":"1"}})", "field headers: want no text"},
      {"HeaderValueIsANumber", R"({"headers":{"A":[1]}})", "field headers: want no number"},
      {"HeaderValueIsAnArray", R"({"headers":{"A":[[]]}})", "field headers: want no array"},
      {"Deep", R"({"x":)" + deep, "nested over 64 deep"},
  };
  for (const BadCase& row : cases) {
    const Decoded got = decode_all(make_json_decoder, "{}\n" + row.line + "\n{}\n");
    EXPECT_THAT(got.error, HasSubstr(row.want)) << row.name;
    EXPECT_EQ(got.results.size(), 1U) << row.name;
  }
}

TEST(JsonCodec, IsDetectedByItsFirstLine) {
  EXPECT_EQ(detect_json(golden("results.json"), true), CodecEntry::Match::kYes);
  EXPECT_EQ(detect_json("{}", true), CodecEntry::Match::kYes);
  EXPECT_EQ(detect_json("{\"not\":\"closed\"", false), CodecEntry::Match::kNeedMore);
  EXPECT_EQ(detect_json("{\"body\":\"" + std::string(70000, 'A'), false), CodecEntry::Match::kYes);
  EXPECT_EQ(detect_json("{\"not\":\"closed\"\n", false), CodecEntry::Match::kNo);
  EXPECT_EQ(detect_json("{\"not\":\"closed\"", true), CodecEntry::Match::kNo);
  EXPECT_EQ(detect_json("", true), CodecEntry::Match::kNo);
  EXPECT_EQ(detect_json("garbage", false), CodecEntry::Match::kNo);
  EXPECT_EQ(detect_json(golden("results.gob"), true), CodecEntry::Match::kNo);
  EXPECT_EQ(detect_json(golden("results.csv"), true), CodecEntry::Match::kNo);
}

}  // namespace
}  // namespace pepe
