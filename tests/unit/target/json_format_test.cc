#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "target/formats.h"
#include "unit/target/target_list.h"

namespace pepe {
namespace {

using testing::cut_into;
using testing::drain;
using testing::Pipe;
using testing::show;

using Lines = std::vector<std::string>;

struct Reading {
  Lines targets;
  Lines warnings;
};

Reading read(std::string_view text, TargetDefaults defaults = {}, std::size_t piece = 1 << 20) {
  Pipe pipe{cut_into(text, piece)};
  Reading reading;
  const auto list =
      make_json_targeter({"t.json", std::move(defaults), pipe.reader(), {}, [&reading](const std::string& warning) {
                            reading.warnings.push_back(warning);
                          }});
  reading.targets = drain(*list);
  return reading;
}

struct ListCase {
  const char* name;
  std::string text;
  Lines want;
};

const ListCase kListCases[] = {
    {"OneTarget",
     R"({"method":"GET","url":"http://h/"})"
     "\n",
     {"GET http://h/"}},
    {"NoFinalNewline",
     R"({"method":"GET","url":"http://h/1"})"
     "\n"
     R"({"method":"GET","url":"http://h/2"})",
     {"GET http://h/1", "GET http://h/2"}},
    {"Nothing", "\n \n", {}},
    {"BlanksAround", "\n  {\"url\" : \"http://h/\" ,\"method\":\"PUT\"}  \r\n\n", {"PUT http://h/"}},
    {"ByteOrderMark", "\xEF\xBB\xBF{\"method\":\"GET\",\"url\":\"http://h/\"}", {"GET http://h/"}},
    {"Body", R"({"method":"POST","url":"u","body":"aGk="})", {"POST u <hi>"}},
    {"BodyOfAnyBytes",
     R"({"method":"POST","url":"u","body":"AAH/Cg=="})",
     {"POST u <" + std::string{"\0\x01\xff\n", 4} + ">"}},
    {"EmptyBodyIsNone", R"({"method":"POST","url":"u","body":""})", {"POST u"}},
    {"Headers",
     R"({"method":"GET","url":"u","header":{"X-A":["1","2"],"x-low":["3"]}})",
     {"GET u {X-A: 1} {X-A: 2} {x-low: 3}"}},
    {"EmptyHeaderValue", R"({"method":"GET","url":"u","header":{"X-E":[""]}})", {"GET u {X-E: }"}},
    {"EmptyHeaderList", R"({"method":"GET","url":"u","header":{"X-E":[]}})", {"GET u"}},
    {"NullIsAbsent", R"({"method":"GET","url":"u","header":null,"body":null})", {"GET u"}},
    {"NullAmongHeaders", R"({"method":"GET","url":"u","header":{"A":null,"B":[null,"1"]}})", {"GET u {B: 1}"}},
    {"Escapes", R"({"method":"\u0047ET","url":"http:\/\/h\/\u0061\ud83d\ude00"})", {"GET http://h/a\U0001F600"}},
    {"TabInAHeaderValue", R"({"method":"GET","url":"u","header":{"A":["1\t2"]}})", {"GET u {A: 1\t2}"}},
    {"LastValueWins", R"({"method":"GET","method":"PUT","url":"u"})", {"PUT u"}},
    {"MethodUrlAndHeadersNeedNotBeValid",
     R"({"method":"g e t","url":"not a url","header":{"a b":["1"]}})",
     {"g e t not a url {a b: 1}"}},
    {"UnknownFields",
     R"({"a":{"method":[1,{"b":"c"}],"d":[[]]},"method":"GET","x":-1.5e99,"y":true,"z":[null],"url":"u"})",
     {"GET u"}},
    {"UnknownFieldNamedLikeAHeader", R"({"extra":{"header":{"A":["1"]}},"method":"GET","url":"u"})", {"GET u"}},
    {"LongLine",
     R"({"method":"GET","url":")" + std::string(300'000, 'x') + "\"}",
     {"GET " + std::string(300'000, 'x')}},
};

TEST(JsonFormat, ReadsAnObjectALine) {
  for (const ListCase& row : kListCases) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(read(row.text).targets, row.want);
    if (row.text.size() < 1'000) {
      EXPECT_EQ(read(row.text, {}, 1).targets, row.want);
    }
  }
}

constexpr const char* kWantObject =
    R"(want one object a line, such as {"method": "GET", "url": "http://127.0.0.1:8080/"})";

const ListCase kFaultCases[] = {
    {"NoMethod",
     R"({"url":"u"})",
     {R"(t.json:1: target: required method is missing: add "method": "GET" (names are lower case))"}},
    {"EmptyMethod", R"({"method":"","url":"u"})", {"t.json:1: target: required method is missing"}},
    {"NoUrl",
     R"({"method":"GET"})",
     {R"(t.json:1: target: required url is missing: add "url": "http://127.0.0.1:8080/" (names are lower case))"}},
    {"NamesAreMatchedExactly", R"({"Method":"GET","url":"u"})", {"t.json:1: target: required method is missing"}},
    {"NumberAsMethod",
     R"({"method":1,"url":"u"})",
     {R"(t.json:1: parse error: field "method": want a string, such as "GET" near offset)"}},
    {"ListAsUrl", R"({"method":"GET","url":["u"]})", {R"(t.json:1: parse error: field "url": want a string)"}},
    {"PlainBody",
     R"({"method":"GET","url":"u","body":"hi there!"})",
     {R"(t.json:1: parse error: field "body": illegal base64 data at input byte 2: want base64, such as "aGk=" for hi near offset)"}},
    {"ObjectAsBody",
     R"({"method":"GET","url":"u","body":{"a":1}})",
     {R"(t.json:1: parse error: field "body": want a string of base64)"}},
    {"StringAsHeader",
     R"({"method":"GET","url":"u","header":"A: b"})",
     {R"(t.json:1: parse error: field "header": want an object of lists)"}},
    {"StringAsHeaderValue",
     R"({"method":"GET","url":"u","header":{"A":"b"}})",
     {R"(t.json:1: parse error: field "header": "A": want a list of strings, such as ["1"] near offset)"}},
    {"NumberInAHeaderList",
     R"({"method":"GET","url":"u","header":{"A":[1]}})",
     {R"(t.json:1: parse error: field "header": "A": want a list of strings)"}},
    {"ListOfTargets",
     R"([{"method":"GET","url":"u"}])",
     {"t.json:1: parse error: want one object a line, not a list (jq -c '.[]' takes a list apart) near offset 0 of "
      "'[{\"...'"}},
    {"Word", "nope", {std::string{"t.json:1: parse error: "} + kWantObject}},
    {"Null", "null", {std::string{"t.json:1: parse error: "} + kWantObject}},
    {"String", "\"x\"", {std::string{"t.json:1: parse error: "} + kWantObject}},
    {"HttpFormat",
     "GET http://h/",
     {std::string{"t.json:1: parse error: "} + kWantObject + " near offset 0 of 'GET http:...'"}},
    {"ObjectOverLines",
     "{\n\"method\":\"GET\",\n\"url\":\"u\"}",
     {"t.json:1: parse error: the object does not end on its line: want one object a line (jq -c . writes them so) "
      "near offset 1 of ''"}},
    {"CutObject", R"({"method":"GET","url":"u)", {"t.json:1: parse error: the object does not end on its line"}},
    {"TextAfterTheObject",
     R"({"method":"GET","url":"u"} x)",
     {"t.json:1: parse error: text after the object: want one object a line near offset 27 of 'x'"}},
    {"TwoObjectsOnALine",
     R"({"method":"GET","url":"u"}{"method":"GET","url":"u"})",
     {"t.json:1: parse error: text after the object"}},
    {"NulAfterTheObject",
     R"({"method":"GET","url":"u"})" + std::string{"\0x", 2},
     {"t.json:1: parse error: text after the object: want one object a line near offset 26 of '\\x00x'"}},
    {"MissingColon",
     R"({"method" "GET"})",
     {"t.json:1: parse error: missing a colon after a name of object member near offset 10 of '\"...'"}},
    {"BadEscape", R"({"method":"\x"})", {"t.json:1: parse error: invalid escape character in string near offset"}},
    {"HalfASurrogate",
     R"({"method":"\ud83d"})",
     {"t.json:1: parse error: the surrogate pair in string is invalid near offset"}},
    {"LineBreakInAMethod",
     R"({"method":"G\r\nX: 1","url":"u"})",
     {R"(t.json:1: bad method: G\r\nX: 1: it holds a control character)"}},
    {"LineBreakInAUrl",
     R"({"method":"GET","url":"http://u:secret@h/\n"})",
     {R"(t.json:1: bad URL: http://***@h/\n, parse "http://***@h/\n": net/url: invalid control character in URL)"}},
    {"LineBreakInAHeaderName",
     R"({"method":"GET","url":"u","header":{"A\n":["1"]}})",
     {R"(t.json:1: bad header: A\n: the name holds a control character)"}},
    {"DeleteInAHeaderValue",
     R"({"method":"GET","url":"u","header":{"A":["secret\u007f"]}})",
     {"t.json:1: bad header: A: the value holds a control character"}},
    {"NoUtf16", std::string{"\xFF\xFE{\0", 4}, {"t.json:1: the list is UTF-16 text"}},
};

TEST(JsonFormat, NamesLineFieldAndRemedyOfAFault) {
  for (const ListCase& row : kFaultCases) {
    SCOPED_TRACE(row.name);
    const Lines got = read(row.text).targets;
    ASSERT_EQ(got.size(), 1U);
    EXPECT_EQ(got[0].rfind("error: " + row.want[0], 0), 0U) << got[0];
  }
}

TEST(JsonFormat, ShowsNoSecretOfALineThatItRefuses) {
  for (const char* line : {R"({"method":"GET","url":"http://u:SECRET@h/" "header":{}})", R"({"header":{"A":"SECRET"}})",
                           R"({"header":{"A":["SECRET" 1]}})", R"({"header":{"A":["SECRET\xSECRET"]}})",
                           R"({"header":{"A":["\" SECRET\x SECRET"]}})", R"({"body":"SECRET!"})", R"({"body":"SECRET)",
                           R"({"method":"GET","url":{"http://u":"SECRET"}})", "Authorization: SECRET",
                           "GET http://u:SECRET@h/", R"({"header":{A:SECRET}})", R"(["SECRET"])"}) {
    const Lines got = read(line).targets;
    ASSERT_EQ(got.size(), 1U);
    EXPECT_EQ(got[0].rfind("error: t.json:1: ", 0), 0U);
    EXPECT_EQ(got[0].find("SECRET"), std::string::npos) << got[0];
  }
}

TEST(JsonFormat, CountsLinesUpToTheFault) {
  const Lines got =
      read("{\"method\":\"GET\",\"url\":\"u\"}\n\n{\"method\":\"GET\"}\n{\"method\":\"GET\",\"url\":\"v\"}\n").targets;
  ASSERT_EQ(got.size(), 2U);
  EXPECT_EQ(got[0], "GET u");
  EXPECT_EQ(got[1].rfind("error: t.json:3: target: required url is missing", 0), 0U) << got[1];
}

TEST(JsonFormat, SurvivesDeepNesting) {
  const std::string deep(1'000'000, '[');
  EXPECT_EQ(read(R"({"a":)" + deep + std::string(1'000'000, ']') + R"(,"method":"GET","url":"u"})").targets,
            Lines{"GET u"});
  EXPECT_EQ(read(R"({"a":)" + deep).targets.size(), 1U);
}

TEST(JsonFormat, WarnsOnceOfAnUnknownField) {
  const std::string line = R"({"method":"GET","url":"u","headers":{"A":["1"]}})"
                           "\n";
  const Reading reading = read(line + line + line);
  EXPECT_EQ(reading.targets.size(), 3U);
  EXPECT_EQ(reading.warnings,
            Lines{R"(t.json:1: unknown field "headers" is skipped: the fields are method, url, body and header)"});
}

TEST(JsonFormat, LimitsItsWarnings) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += R"({"method":"GET","url":"u","f)" + std::to_string(i) + "\":1}\n";
  const Reading reading = read(text);
  EXPECT_EQ(reading.targets.size(), 100U);
  EXPECT_LT(reading.warnings.size(), 10U);
  EXPECT_GT(reading.warnings.size(), 1U);
}

TEST(JsonFormat, PutsDefaultHeadersFirstAndFillsInTheBody) {
  const auto body = std::make_shared<const std::string>("flag");
  EXPECT_EQ(read("{\"method\":\"GET\",\"url\":\"u\",\"header\":{\"X\":[\"2\"]}}\n{\"method\":\"GET\",\"url\":\"v\","
                 "\"body\":\"b25l\"}\n",
                 {{{"X", "1"}}, body})
                .targets,
            (Lines{"GET u {X: 1} {X: 2} <flag>", "GET v {X: 1} <one>"}));
}

TEST(JsonFormat, ReadsNoFurtherThanALine) {
  Pipe pipe{{"{\"method\":\"GET\",\"url\":\"1\"}\n", "{\"method\":\"GET\",", "\"url\":\"2\"}\n", "x"}};
  const auto list = make_json_targeter({"t", {}, pipe.reader(), {}, {}});
  EXPECT_EQ(show(**list->next()), "GET 1");
  EXPECT_EQ(pipe.pieces_left(), 3U);
  EXPECT_EQ(show(**list->next()), "GET 2");
  EXPECT_EQ(pipe.pieces_left(), 1U);
}

}  // namespace
}  // namespace pepe
