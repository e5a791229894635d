#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "target/formats.h"
#include "unit/target/target_list.h"

namespace pepe {
namespace {

using testing::cut_into;
using testing::drain;
using testing::Files;
using testing::Pipe;
using testing::show;

using Lines = std::vector<std::string>;

std::unique_ptr<Targeter> targeter(Pipe& pipe, Files& files, TargetDefaults defaults = {}) {
  return make_http_targeter({"t.txt", std::move(defaults), pipe.reader(), files.reader(), {}});
}

Lines read(std::string_view text, TargetDefaults defaults = {}, std::size_t piece = 1 << 20) {
  Pipe pipe{cut_into(text, piece)};
  Files files{{{"b1", "one"}, {"b2", "two"}, {"empty", ""}, {"b one.txt", "blank"}}};
  return drain(*targeter(pipe, files, std::move(defaults)));
}

struct ListCase {
  const char* name;
  std::string text;
  Lines want;
};

const ListCase kListCases[] = {
    {"OneTarget", "GET http://h/a\n", {"GET http://h/a"}},
    {"NoFinalNewline", "GET http://h/a", {"GET http://h/a"}},
    {"Nothing", "", {}},
    {"OnlyCommentsAndBlanks", "# a\n\n \n#b", {}},
    {"BlankLinesBetween", "\n\nGET http://h/1\n\n\n   \nGET http://h/2\n\n", {"GET http://h/1", "GET http://h/2"}},
    {"NoBlankLineBetween", "GET http://h/1\nPUT http://h/2\n", {"GET http://h/1", "PUT http://h/2"}},
    {"AnyCapitalsAreAMethod", "PURGE http://h/\nFOO http://h/\n", {"PURGE http://h/", "FOO http://h/"}},
    {"Headers",
     "GET http://h/\nX-A: 1\nX-B:two words : and colon\nx-lower: 3\n",
     {"GET http://h/ {X-A: 1} {X-B: two words : and colon} {x-lower: 3}"}},
    {"SpellingsStayApart", "GET http://h/\nX-A: 1\nx-a: 2\nX-A: 3\n", {"GET http://h/ {X-A: 1} {x-a: 2} {X-A: 3}"}},
    {"HeadersOfEachTarget",
     "GET http://h/1\nX-A: 1\n\nGET http://h/2\nX-B: 2\n",
     {"GET http://h/1 {X-A: 1}", "GET http://h/2 {X-B: 2}"}},
    {"IndentedLines", "   GET http://h/   \n\t X-A : 1 \t\n", {"GET http://h/ {X-A: 1}"}},
    {"WindowsLineEnds",
     "GET http://h/1\r\nX-A: 1\r\n\r\nGET http://h/2\r\n",
     {"GET http://h/1 {X-A: 1}", "GET http://h/2"}},
    {"ByteOrderMark", "\xEF\xBB\xBFGET http://h/\n", {"GET http://h/"}},
    {"CommentBetweenHeaders",
     "GET http://h/\n# note\nX-A: 1\n# another: note\nX-B: 2\n",
     {"GET http://h/ {X-A: 1} {X-B: 2}"}},
    {"CommentBeforeTheNextTarget", "GET http://h/1\n# note\nGET http://h/2\n", {"GET http://h/1", "GET http://h/2"}},
    {"RequestLineAmongHeaders",
     "GET http://h/1\nX-A: 1\nGET http://h/2\n",
     {"GET http://h/1 {X-A: 1}", "GET http://h/2"}},
    {"HeaderOfCapitals", "GET http://h/1\nHOST : a\nX : 1\nDNT: 1\n", {"GET http://h/1 {HOST: a} {X: 1} {DNT: 1}"}},
    {"HeaderOutsideAscii",
     "GET http://h/\nX-U: gr\u00fc\u00df \u540d\n",
     {"GET http://h/ {X-U: gr\u00fc\u00df \u540d}"}},
    {"TabInAValue", "GET http://h/\nX-A: a\tb\n", {"GET http://h/ {X-A: a\tb}"}},
    {"Body", "POST http://h/\nX-A: 1\n@b1\n", {"POST http://h/ {X-A: 1} <one>"}},
    {"BodyEndsTheTarget",
     "POST http://h/1\n@b1\nPUT http://h/2\n@b2\n",
     {"POST http://h/1 <one>", "PUT http://h/2 <two>"}},
    {"BodyAfterAComment", "POST http://h/1\n# c\n@b1\n", {"POST http://h/1 <one>"}},
    {"BodyOfZeroBytes", "POST http://h/1\n@empty\n", {"POST http://h/1 <>"}},
    {"BodyPathWithBlanks", "POST http://h/1\n@b one.txt\n", {"POST http://h/1 <blank>"}},
    {"CommentAfterABody", "POST http://h/1\n@b1\n# c\nGET http://h/2\n", {"POST http://h/1 <one>", "GET http://h/2"}},
    {"BlankInAUrl", "GET http://h/a b\n", {"GET http://h/a b"}},
    {"EmptyHost", "GET http://:8080/\n", {"GET http://:8080/"}},
    {"CapitalScheme", "GET HTTP://h/\n", {"GET HTTP://h/"}},
    {"LongLines",
     "GET http://h/1\n\nGET http://h/" + std::string(70'000, 'a') + "\nX-L: " + std::string(70'000, 'b') + "\n",
     {"GET http://h/1", "GET http://h/" + std::string(70'000, 'a') + " {X-L: " + std::string(70'000, 'b') + "}"}},
};

TEST(HttpFormat, ReadsALine) {
  for (const ListCase& row : kListCases) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(read(row.text), row.want);
  }
}

TEST(HttpFormat, ReadsTheSameFromAnyPieces) {
  for (const ListCase& row : kListCases) {
    SCOPED_TRACE(row.name);
    if (row.text.size() < 1'000) {
      EXPECT_EQ(read(row.text, {}, 1), row.want);
      EXPECT_EQ(read(row.text, {}, 3), row.want);
    }
  }
}

const ListCase kFaultCases[] = {
    {"NoBlank", "GET\n", {"error: t.txt:1: bad target: GET: want METHOD URL, such as GET http://127.0.0.1:8080/"}},
    {"NoMethod",
     "GET http://h/\n\nhttp://h/b\n",
     {"GET http://h/", "error: t.txt:3: bad target: http://h/b: want METHOD URL, such as GET http://127.0.0.1:8080/"}},
    {"LowerCase",
     "get http://h/\n",
     {"error: t.txt:1: bad method: get: want METHOD URL, such as GET http://127.0.0.1:8080/ (a method is capital "
      "letters, one blank follows it)"}},
    {"DigitInAMethod",
     "GE7 http://h/\n",
     {"error: t.txt:1: bad method: GE7: want METHOD URL, such as GET http://127.0.0.1:8080/ (a method is capital "
      "letters, one blank follows it)"}},
    {"DashInAMethod",
     "M-SEARCH http://h/\n",
     {"error: t.txt:1: bad method: M-SEARCH: want METHOD URL, such as GET http://127.0.0.1:8080/ (a method is capital "
      "letters, one blank follows it)"}},
    {"Tab",
     "GET\thttp://h/\n",
     {"error: t.txt:1: bad target: GET\\thttp://h/: want METHOD URL, such as GET http://127.0.0.1:8080/"}},
    {"TabAndBlank",
     "GET\thttp://h/ x\n",
     {"error: t.txt:1: bad method: GET\\thttp://h/: want METHOD URL, such as GET http://127.0.0.1:8080/ (a method is "
      "capital letters, one blank follows it)"}},
    {"TwoBlanks",
     "GET  http://h/\n",
     {R"(error: t.txt:1: bad URL:  http://h/, parse " http://h/": invalid URI for request)"}},
    {"RelativeUrl",
     "# list\n\nGET 127.0.0.1:80/\n",
     {R"(error: t.txt:3: bad URL: 127.0.0.1:80/, parse "127.0.0.1:80/": invalid URI for request)"}},
    {"PathOnly",
     "GET /a\n",
     {R"(error: t.txt:1: bad URL: /a, unsupported protocol scheme "": want http://HOST/... or https://HOST/...)"}},
    {"OtherScheme",
     "GET ftp://h/a\n",
     {R"(error: t.txt:1: bad URL: ftp://h/a, unsupported protocol scheme "ftp": want http://HOST/... or https://HOST/...)"}},
    {"NoHost",
     "GET http:///a\n",
     {"error: t.txt:1: bad URL: http:///a, no Host in request URL: want http://HOST/... or https://HOST/..."}},
    {"NoHostAtAll",
     "GET http:a\n",
     {"error: t.txt:1: bad URL: http:a, no Host in request URL: want http://HOST/... or https://HOST/..."}},
    {"BadEscape",
     "GET http://h/%zz\n",
     {R"(error: t.txt:1: bad URL: http://h/%zz, parse "http://h/%zz": invalid URL escape "%zz")"}},
    {"Password",
     "GET http://u:secret@h/%zz\n",
     {R"(error: t.txt:1: bad URL: http://***@h/%zz, parse "http://***@h/%zz": invalid URL escape "***")"}},
    {"Version",
     "# list\nGET http://h/ok HTTP/1.1\n",
     {R"(error: t.txt:2: bad URL: http://h/ok HTTP/1.1, the URL ends in " HTTP/1.1": leave the version out)"}},
    {"HeaderWithoutColon", "GET http://h/\nfoo\n", {"error: t.txt:2: bad header: foo: want NAME: VALUE"}},
    {"HeaderWithoutValue", "GET http://h/\nX-A:\n", {"error: t.txt:2: bad header: X-A:: want NAME: VALUE"}},
    {"HeaderWithoutName", "GET http://h/\n: x\n", {"error: t.txt:2: bad header: :: want NAME: VALUE"}},
    {"SecretWithoutColon",
     "GET http://h/\nAuthorization Bearer secret\n",
     {"error: t.txt:2: bad header: Authorization: want NAME: VALUE"}},
    {"SecretBehindABadName",
     "GET http://h/\nX(Key): secret\n",
     {"error: t.txt:2: bad header: X(Key):: the name holds a character that no header name may have"}},
    {"SecretBehindTheBody",
     "GET http://h/\n@b1\nCookie:secret\n",
     {"GET http://h/ <one>",
      "error: t.txt:3: bad target: Cookie:: the body line ends a target, headers come before it"}},
    {"UrlWithCredentialsAlone",
     "http://u:secret@h/\n",
     {"error: t.txt:1: bad target: http://***@h/: want METHOD URL, such as GET http://127.0.0.1:8080/"}},
    {"UrlWithCredentialsFirst",
     "http://u:secret@h/ GET\n",
     {"error: t.txt:1: bad method: http://***@h/: want METHOD URL, such as GET http://127.0.0.1:8080/ (a method is "
      "capital letters, one blank follows it)"}},
    {"RequestLineInLowerCase",
     "GET http://h/\nget http://h/\n",
     {"error: t.txt:2: bad header: get: the name holds a character that no header name may have"}},
    {"ControlInAValue",
     std::string{"GET http://h/\nX-A: a\0b\n", 22},
     {"error: t.txt:2: bad header: X-A: the value holds a control character"}},
    {"CarriageReturnInAValue",
     "GET http://h/\nX-A: a\rX-B: c\n",
     {"error: t.txt:2: bad header: X-A: the value holds a control character"}},
    {"CarriageReturnInAHeaderName",
     "GET http://h/\nX\rA: b\n",
     {"error: t.txt:2: bad header: X\\rA:: the name holds a character that no header name may have"}},
    {"CarriageReturnInARequestLine",
     "GET http://h/\nGET\rhttp://h/\n",
     {"error: t.txt:2: bad header: GET\\rhttp://h/: the name holds a character that no header name may have"}},
    {"MissingBody",
     "GET http://h/a\n\nPOST http://h/b\n@missing.txt\n",
     {"GET http://h/a", "error: t.txt:4: bad body: open missing.txt: no such file or directory"}},
    {"HeaderAfterTheBody",
     "POST http://h/\n@b1\nX-A: 1\n",
     {"POST http://h/ <one>",
      "error: t.txt:3: bad method: X-A:: the body line ends a target, headers come before it (a method is capital "
      "letters, one blank follows it)"}},
    {"SecondBody",
     "POST http://h/\n@b1\n@b2\n",
     {"POST http://h/ <one>", "error: t.txt:3: bad target: @b2: the body line ends a target, headers come before it"}},
    {"Escape",
     "\x1b[31mred\n",
     {"error: t.txt:1: bad target: \\x1b[31mred: want METHOD URL, such as GET http://127.0.0.1:8080/"}},
};

TEST(HttpFormat, NamesLineAndRemedyOfAFault) {
  for (const ListCase& row : kFaultCases) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(read(row.text), row.want);
  }
}

TEST(HttpFormat, DoesNotRepeatAHugeLineInItsError) {
  const Lines lines = read("GET http://h/\nfoo" + std::string(1'000'000, 'x') + "\n");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_LT(lines[0].size(), 400U);
}

TEST(HttpFormat, EndsAtAFault) {
  Pipe pipe{{"nonsense\nGET http://h/\n"}};
  Files files;
  const auto list = targeter(pipe, files);
  EXPECT_FALSE(list->next());
  EXPECT_FALSE(list->next().value());
}

TEST(HttpFormat, PutsDefaultHeadersFirst) {
  EXPECT_EQ(read("GET http://h/1\nX: a\n\nGET http://h/2\nX: b\n", {{{"X", "1"}, {"X", "2"}, {"X", "3"}}, nullptr}),
            (Lines{"GET http://h/1 {X: 1} {X: 2} {X: 3} {X: a}", "GET http://h/2 {X: 1} {X: 2} {X: 3} {X: b}"}));
}

TEST(HttpFormat, GivesTheDefaultBodyToTargetsWithoutOne) {
  const auto body = std::make_shared<const std::string>("flag");
  EXPECT_EQ(read("POST http://h/1\n\nPOST http://h/2\n@b1\n\nPOST http://h/3\n@empty\n", {{}, body}),
            (Lines{"POST http://h/1 <flag>", "POST http://h/2 <one>", "POST http://h/3 <>"}));
}

TEST(HttpFormat, ReadsABodyFileOnceForAllTargets) {
  std::string text;
  for (int i = 0; i < 1'000; ++i) text += i % 2 == 0 ? "POST http://h/\n@b1\n" : "POST http://h/\n@b2\n";
  Pipe pipe{{text}};
  Files files{{{"b1", "one"}, {"b2", "two"}}};
  const auto targets = read_all_targets(*targeter(pipe, files));
  ASSERT_TRUE(targets);
  EXPECT_EQ(targets->size(), 1'000U);
  EXPECT_EQ(files.reads, 2U);
  EXPECT_EQ((*targets)[0].body, (*targets)[998].body);
}

TEST(HttpFormat, ReadsNoFurtherThanATargetsEnd) {
  Pipe pipe{{"GET http://h/1\nX-A: 1\n\n", "GET http://h/2\n", "GET http://h/3\n", "\n"}};
  Files files;
  const auto list = targeter(pipe, files);
  EXPECT_EQ(show(**list->next()), "GET http://h/1 {X-A: 1}");
  EXPECT_EQ(pipe.pieces_left(), 3U) << "a blank line ends a target: no need to wait for more";
  EXPECT_EQ(show(**list->next()), "GET http://h/2");
  EXPECT_EQ(pipe.pieces_left(), 1U) << "without one, the next line shows that the target has ended";
  EXPECT_EQ(show(**list->next()), "GET http://h/3");
  EXPECT_FALSE(pipe.ended());
  EXPECT_FALSE(list->next().value());
}

}  // namespace
}  // namespace pepe
