#include "result/json_line.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "golden_results.h"
#include "result/json_record.h"
#include "support/random_result.h"

namespace pepe {
namespace {

constexpr std::string_view kUsual =
    R"({"attack":"a","seq":7,"code":200,"timestamp":"2026-03-01T09:30:00.5Z","latency":12,"bytes_out":3,"bytes_in":2,)"
    R"("error":"","body":"aGk=","method":"GET","url":"http://h/","headers":{"A":["1","2"],"B":["3"]}})";

// The usual line with `to` in the place of `from`.
std::string with(std::string_view from, std::string_view to) {
  std::string line{kUsual};
  const std::size_t at = line.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return line.replace(at, from.size(), to);
}

struct LineCase {
  const char* name;
  std::string line;
};

TEST(JsonLine, TakesTheLinesThatEncodersWrite) {
  const LineCase cases[] = {
      {"Usual", std::string{kUsual}},
      {"Escapes", with("http://h/", R"(http://h/?a=1\u0026b=\"\u003c\u00e9\u20ac\\\/\b\f\n\r\t)")},
      {"EscapesInSeveral", with(R"("error":"","body":"aGk=","method":"GET")",
                                R"("error":"\"x\"","body":"aG\u006b=","method":"\"a long method, as methods go\"")")},
      {"EscapedTimestamp", with("2026-", "\\u0032026-")},
      {"PlainUtf8", with("http://h/", "\u00e9\u4e16\U0001f600")},
      {"NoUtf8", with("http://h/", "\xff\xed\xa0\x80")},
      {"NilBody", with("\"aGk=\"", "null")},
      {"EmptyBody", with("aGk=", "")},
      {"FoldedBody", with("aGk=", "aG\\nk=")},
      {"NilHeaders", with(R"({"A":["1","2"],"B":["3"]})", "null")},
      {"NoHeaders", with(R"({"A":["1","2"],"B":["3"]})", "{}")},
      {"EscapedHeaders", with(R"("A":["1")", R"("A\"":["\u003c1\u003e")")},
      {"RepeatedHeaders", with("\"B\"", "\"A\"")},
      {"LargestNumbers",
       with(R"("latency":12,"bytes_out":3)", R"("latency":9223372036854775807,"bytes_out":9999999999999999999)")},
      {"LargestCode", with("200", "65535")},
      {"CarriageReturn", std::string{kUsual} + "\r"},
  };
  JsonLine usual{{}};
  JsonRecord general{{}};
  for (const LineCase& row : cases) {
    Result got;
    ASSERT_TRUE(usual.read(row.line, got)) << row.name;
    Result want;
    ASSERT_TRUE(general.parse(row.line, want)) << row.name;
    EXPECT_EQ(copy_of(got), copy_of(want)) << row.name;
  }
}

TEST(JsonLine, LeavesOtherLinesToTheGeneralReader) {
  const LineCase cases[] = {
      {"Nothing", ""},
      {"NoHeaderValue", with(R"({"A":["1","2"],"B":["3"]})", "")},
      {"OtherOrder", with(R"("seq":7,"code":200)", R"("code":200,"seq":7)")},
      {"UnknownField", with("\"seq\":7", "\"x\":1,\"seq\":7")},
      {"RepeatedField", with("\"seq\":7", "\"seq\":7,\"seq\":8")},
      {"OtherCase", with("\"seq\"", "\"Seq\"")},
      {"Blank", with(",\"seq\"", ", \"seq\"")},
      {"BlankAtTheEnd", std::string{kUsual} + " "},
      {"NullForText", with("\"http://h/\"", "null")},
      {"CodeTooLarge", with("200", "65536")},
      {"CodeOfSeventeenBits", with("200", "131272")},
      {"NoNumber", with("200", "")},
      {"NegativeLatency", with("12", "-12")},
      {"LatencyTooLarge", with("12", "9223372036854775808")},
      {"TwentyDigits", with("12", "18446744073709551628")},
      {"LeadingZero", with("12", "012")},
      {"Fraction", with("12", "12.0")},
      {"Exponent", with("12", "12e0")},
      {"NoTime", with("2026-", "2o26-")},
      {"NoBase64", with("aGk=", "*Gk=")},
      {"ControlCharacter", with("http://h/", "\x1f")},
      {"NulByte", with("http://h/", std::string_view{"\0", 1})},
      {"UnknownEscape", with("http://h/", "\\a")},
      {"ShortEscape", with("http://h/", "\\u12")},
      {"EscapeThatIsNoHex", with("http://h/", "\\u+123")},
      {"Surrogates", with("http://h/", R"(\ud83d\ude00)")},
      {"LoneSurrogate", with("http://h/", R"(\udfff)")},
      {"HeaderWithoutValues", with(R"(["3"])", "[]")},
      {"HeaderThatIsNull", with(R"(["3"])", "null")},
      {"HeadersNotClosed", with("]}}", "]}")},
      {"MoreAfterTheHeaders", with("]}}", R"(]},"x":{}})")},
      {"MoreAfterTheObject", std::string{kUsual} + "{}"},
  };
  for (const LineCase& row : cases) {
    JsonLine usual{{}};
    Result result;
    EXPECT_FALSE(usual.read(row.line, result)) << row.name;
  }
}

TEST(JsonLine, TakesNoLineThatIsCut) {
  for (std::size_t length = 0; length < kUsual.size(); ++length) {
    JsonLine usual{{}};
    Result result;
    EXPECT_FALSE(usual.read(kUsual.substr(0, length), result)) << length;
  }
}

// The second line is compared with the headers of the first.
TEST(JsonLine, ReadsEachLinesOwnHeaders) {
  const std::string lines[] = {std::string{kUsual},    std::string{kUsual},
                               with("\"3\"", "\"4\""), with("\"3\"", "4"),
                               with("\"3\"", "\"4\""), with(R"({"A":["1","2"],"B":["3"]})", "null")};
  JsonLine usual{{}};
  JsonRecord general{{}};
  for (const std::string& line : lines) {
    Result got;
    Result want;
    const bool whole = general.parse(line, want).has_value();
    ASSERT_EQ(usual.read(line, got), whole) << line;
    if (whole) {
      EXPECT_EQ(copy_of(got), copy_of(want)) << line;
    }
  }
}

TEST(JsonLine, LeavesOutWhatIsNotWanted) {
  JsonLine usual{{.bodies = false, .headers = false}};
  Result result;
  ASSERT_TRUE(usual.read(kUsual, result));
  EXPECT_EQ(result.body, std::nullopt);
  EXPECT_TRUE(result.headers.empty());
  EXPECT_TRUE(result.has_headers);
  EXPECT_EQ(result.bytes_in, 2U);
}

}  // namespace
}  // namespace pepe
