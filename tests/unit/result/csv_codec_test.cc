#include "result/csv_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "golden_results.h"
#include "support/codec_harness.h"

namespace pepe {
namespace {

using ::testing::HasSubstr;

// What CSV keeps of the golden results: UTC as local time, and an empty body for none.
std::vector<RandomResult> csv_results() {
  std::vector<RandomResult> results = golden_results();
  for (RandomResult& result : results) {
    result.timestamp.zone_minutes = local_zone_minutes(result.timestamp.unix_nanos);
    if (!result.body) result.body = "";
  }
  return results;
}

// A record whose column `column` is `field` and whose others are zero.
std::string with_column(std::size_t column, std::string_view field) {
  std::string out;
  for (std::size_t i = 1; i <= 12; ++i) {
    const bool text = i >= 6 && i != 9;
    out += i == column ? field : text ? "" : "0";
    out += i == 12 ? "\n" : ",";
  }
  return out;
}

TEST(CsvCodec, WritesWhatVegetaWrites) {
  EXPECT_EQ(encode_all(make_csv_encoder, golden_results()), golden("results.csv"));
}

TEST(CsvCodec, ReadsWhatVegetaWrites) {
  const Decoded got = decode_all(make_csv_decoder, golden("results.csv"));
  EXPECT_EQ(got.error, "");
  EXPECT_EQ(got.results, csv_results());
}

struct FieldCase {
  const char* name;
  std::string value;
  const char* want;
};

TEST(CsvCodec, QuotesWhereAReaderNeedsIt) {
  const FieldCase cases[] = {
      {"Plain", "a b", "a b"},
      {"Comma", "a,b", "\"a,b\""},
      {"Quote", "a\"b", "\"a\"\"b\""},
      {"LineFeed", "a\nb", "\"a\nb\""},
      {"CarriageReturn", "a\r", "\"a\r\""},
      {"LeadingBlank", " a", "\" a\""},
      {"LeadingTab", "\ta", "\"\ta\""},
      {"LeadingWideBlank", "\u3000a", "\"\u3000a\""},
      {"TrailingBlank", "a ", "a "},
      {"BackslashPoint", "\\.", "\"\\.\""},
      {"BackslashPointAndMore", "\\.x", "\\.x"},
      {"NoUtf8", "a\xff", "a\xff"},
  };
  for (const FieldCase& row : cases) {
    SCOPED_TRACE(row.name);
    RandomResult result;
    result.error = row.value;
    const std::string bytes = encode_all(make_csv_encoder, {result});
    EXPECT_EQ(bytes, std::string{"0,0,0,0,0,"} + row.want + ",,,0,,,\n");
    const Decoded got = decode_all(make_csv_decoder, bytes);
    ASSERT_EQ(got.results.size(), 1U) << got.error;
    EXPECT_EQ(got.results[0].error, row.value);
  }
}

struct ReadCase {
  const char* name;
  std::string bytes;
  std::vector<std::string> errors;  // The error column of each record.
};

TEST(CsvCodec, ReadsEveryFormOfARecord) {
  const ReadCase cases[] = {
      {"TwoLines", with_column(6, "a") + with_column(6, "b"), {"a", "b"}},
      {"CarriageReturns", "0,0,0,0,0,a,,,0,,,\r\n0,0,0,0,0,b,,,0,,,\r\n", {"a", "b"}},
      {"NoLastLineEnd", "0,0,0,0,0,a,,,0,,,", {"a"}},
      {"NoLastLineFeed", "0,0,0,0,0,a,,,0,,,\r", {"a"}},
      {"BlankLines", "\n\r\n" + with_column(6, "a") + "\n\n" + with_column(6, "b") + "\r\n", {"a", "b"}},
      {"LeadingBlanks", " 0, 0,\t0,0,0,  a b ,,,0,,,\n", {"a b "}},
      {"QuotedOverLines", with_column(6, "\"a\nb\r\nc\""), {"a\nb\r\nc"}},
      {"QuotedQuotes", with_column(6, "\"\"\"\""), {"\""}},
      {"QuotedEmpty", with_column(6, "\"\""), {""}},
      {"BlankBeforeQuotes", with_column(6, " \" a\""), {" a"}},
      {"ByteOrderMark", "\xEF\xBB\xBF" + with_column(6, "a"), {"a"}},
      {"Nothing", "", {}},
      {"OnlyBlankLines", "\n\r\n\r", {}},
  };
  for (const ReadCase& row : cases) {
    for (const std::size_t step : {std::string_view::npos, std::size_t{1}}) {
      SCOPED_TRACE(std::string{row.name} + (step == 1 ? ", byte by byte" : ""));
      const Decoded got = decode_all(make_csv_decoder, row.bytes, step);
      EXPECT_EQ(got.error, "");
      std::vector<std::string> errors;
      for (const RandomResult& result : got.results) errors.push_back(result.error);
      EXPECT_EQ(errors, row.errors);
    }
  }
}

TEST(CsvCodec, SaysThatTheHeadersOfTheLastLineMayBeCut) {
  const std::string line = "1,200,3,4,5,,,,0,GET,http://h/,";
  const std::string headers = "WDogMQ0KDQo=";
  for (const std::string& whole : {line + headers + "\n", line + "\n", line + headers}) {
    const Decoded got = decode_all(make_csv_decoder, whole);
    EXPECT_EQ(got.results.size(), 1U) << got.error;
    EXPECT_TRUE(got.remarks.empty());
  }
  const Decoded cut = decode_all(make_csv_decoder, line + headers + "\n" + line);
  EXPECT_EQ(cut.results.size(), 2U) << cut.error;
  EXPECT_EQ(cut.remarks,
            std::vector<std::string>{"csv:2: the last line has no line end: if it was cut, headers are missing"});
}

struct BadCase {
  const char* name;
  std::string bytes;
  const char* want;  // Part of the error text.
};

TEST(CsvCodec, RefusesWithTheLineAndTheColumn) {
  const std::string good = with_column(6, "\"a\nb\"");  // Two lines.
  const BadCase cases[] = {
      {"ElevenColumns", "1,200,3,4,5,,,,0,,\n", "csv:1: 11 columns, want 12"},
      {"ThirteenColumns", "1,200,3,4,5,,,,0,,,,\n", "csv:1: 13 columns, want 12"},
      {"ThirdLine", good + "x\n", "csv:3: "},
      {"TimestampIsText", with_column(1, "x"), "column 1 (timestamp): cannot read \"x\""},
      {"TimestampTooLarge", with_column(1, "9223372036854775808"), "column 1 (timestamp)"},
      {"CodeTooLarge", with_column(2, "70000"), "column 2 (code): cannot read \"70000\""},
      {"CodeIsNegative", with_column(2, "-1"), "column 2"},
      {"CodeHasASign", with_column(2, "+1"), "column 2"},
      {"LatencyIsAFraction", with_column(3, "1.5"), "column 3"},
      {"LatencyIsEmpty", with_column(3, ""), "column 3"},
      {"BytesOutAreNegative", with_column(4, "-4"), "column 4"},
      {"BytesInAreTooMany", with_column(5, "18446744073709551616"), "column 5"},
      {"SeqWithABlankBehind", with_column(9, "1 "), "column 9"},
      {"BodyIsNoBase64", with_column(7, "*"), "column 7 (body)"},
      {"BodyIsCut", with_column(7, "aGVsbG8"), "column 7"},
      {"HeadersAreNoBase64", with_column(12, "A"), "column 12"},
      {"HeadersAreCut", with_column(12, "QTogMQ0K"), "column 12"},           // "A: 1\r\n"
      {"HeaderWithoutColon", with_column(12, "QQ0KDQo="), "column 12"},      // "A\r\n\r\n"
      {"BytesBehindHeaders", with_column(12, "DQpBOiAxDQo="), "column 12"},  // "\r\nA: 1\r\n"
      {"QuoteWithinAField", with_column(6, "a\"b") + good, "column 6: a quote within a field"},
      {"BytesBehindQuotes", with_column(6, "\"a\"b"), "column 6: the quotes do not close the field"},
      {"QuotesNotClosed", with_column(6, "\"a"), "column 6: the quotes do not close the field"},
      {"EscapesAreShownAsText", with_column(3, "\x1b[2J"), "cannot read \"\\x1b[2J\""},
  };
  for (const BadCase& row : cases) {
    for (const std::size_t step : {std::string_view::npos, std::size_t{1}}) {
      EXPECT_THAT(decode_all(make_csv_decoder, row.bytes, step).error, HasSubstr(row.want)) << row.name;
    }
  }
}

TEST(CsvCodec, ChecksABodyThatIsNotWanted) {
  EXPECT_THAT(decode_all(make_csv_decoder, with_column(7, "*"), std::string_view::npos, {false, false}).error,
              HasSubstr("column 7"));
  const Decoded got = decode_all(make_csv_decoder, with_column(7, "aGk="), std::string_view::npos, {false, false});
  ASSERT_EQ(got.results.size(), 1U);
  EXPECT_EQ(got.results[0].body, std::nullopt);
}

TEST(CsvCodec, KeepsNegativeTimes) {
  const Decoded got = decode_all(make_csv_decoder, "-1,200,-3,4,5,,,,0,,,\n+1,200,+3,4,5,,,,0,,,\n");
  ASSERT_EQ(got.results.size(), 2U);
  EXPECT_EQ(got.results[0].timestamp.unix_nanos, -1);
  EXPECT_EQ(got.results[0].latency, Nanos{-3});
  EXPECT_EQ(got.results[1].latency, Nanos{3});
}

TEST(CsvCodec, SortsHeadersAndKeepsWhatHttpAllows) {
  RandomResult result;
  result.has_headers = true;
  result.headers = {{"x-low", "1"}, {"B", " x,\r\ny "}, {"a b", "dropped"}, {"A", "2"}, {"A", "1"}};
  const std::string bytes = encode_all(make_csv_encoder, {result});
  // "A: 2", "A: 1", "B: x,  y", "x-low: 1"
  EXPECT_EQ(bytes, with_column(12, "QTogMg0KQTogMQ0KQjogeCwgIHkNCngtbG93OiAxDQoNCg=="));
  const Decoded got = decode_all(make_csv_decoder, bytes);
  ASSERT_EQ(got.results.size(), 1U) << got.error;
  const std::vector<std::pair<std::string, std::string>> want = {
      {"A", "2"}, {"A", "1"}, {"B", "x,  y"}, {"X-Low", "1"}};
  EXPECT_EQ(got.results[0].headers, want);
}

TEST(CsvCodec, TellsNoHeadersFromNone) {
  EXPECT_FALSE(decode_all(make_csv_decoder, with_column(12, "")).results.at(0).has_headers);
  EXPECT_TRUE(decode_all(make_csv_decoder, with_column(12, "DQo=")).results.at(0).has_headers);
}

TEST(CsvCodec, IsDetectedByItsFirstRecord) {
  EXPECT_EQ(detect_csv(golden("results.csv"), true), CodecEntry::Match::kYes);
  EXPECT_EQ(detect_csv("0,0,0,0,0,a,,,0,,,", true), CodecEntry::Match::kYes);
  EXPECT_EQ(detect_csv("0,0,0,0,0,a", false), CodecEntry::Match::kNeedMore);
  EXPECT_EQ(detect_csv("0,0,0,0,0,\"" + std::string(70000, '\n'), false), CodecEntry::Match::kYes);
  EXPECT_EQ(detect_csv("0,0,0,0,0,a", true), CodecEntry::Match::kNo);
  EXPECT_EQ(detect_csv("", true), CodecEntry::Match::kNo);
  EXPECT_EQ(detect_csv("timestamp,code,latency", false), CodecEntry::Match::kNo);
  EXPECT_EQ(detect_csv(golden("results.json"), true), CodecEntry::Match::kNo);
}

}  // namespace
}  // namespace pepe
