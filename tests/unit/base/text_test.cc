#include "pepe/base/text.h"

#include <optional>
#include <random>
#include <string>

#include <gtest/gtest.h>

namespace pepe {
namespace {

struct TextCase {
  const char* name;
  std::string text;
  std::string want;
};

const TextCase kQuoteCases[] = {
    {"Empty", "", R"("")"},
    {"Plain", "http://a/", R"("http://a/")"},
    {"QuotesAndBackslashes", R"(a"b\c)", R"("a\"b\\c")"},
    {"NamedControls", "\a\b\f\n\r\t\v", R"("\a\b\f\n\r\t\v")"},
    {"OtherControls", std::string{"\0\x1b\x7f", 3}, R"("\x00\x1b\x7f")"},
    {"Utf8Stays", "gr\u00fc\u00df \u540d \U0001F600", "\"gr\u00fc\u00df \u540d \U0001F600\""},
    {"InvisibleCharacters", "\ufeff\u200b\u202e\u0085", R"("\ufeff\u200b\u202e\u0085")"},
    {"PrivateUse", "\U00100000", R"("\U00100000")"},
    {"NoUtf8", "\xff\xc3(", R"("\xff\xc3(")"},
    {"CutUtf8", "\xe5\x90", R"("\xe5\x90")"},
    {"OverlongUtf8", "\xc0\x80\xe0\x80\x80", R"("\xc0\x80\xe0\x80\x80")"},
    {"Surrogate", "\xed\xa0\x80", R"("\xed\xa0\x80")"},
};

TEST(Quote, EscapesWhatATerminalWouldNotShow) {
  for (const TextCase& row : kQuoteCases) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(quote(row.text), row.want);
  }
}

TEST(Printable, ShowsALineAsItIs) {
  EXPECT_EQ(printable("get \"a\\b\" gr\u00fc\u00df"), "get \"a\\b\" gr\u00fc\u00df");
  EXPECT_EQ(printable("a\x1b[31m\t\u202e"), R"(a\x1b[31m\t\u202e)");
}

TEST(Printable, CutsALongLine) {
  EXPECT_EQ(printable("abcdef", 3), "abc...");
  EXPECT_EQ(printable("abc", 3), "abc");
  EXPECT_EQ(printable(std::string(1'000'000, 'x')).size(), 203U);
}

TEST(Trim, DropsWhiteSpaceAtBothEnds) {
  EXPECT_EQ(trim(" \t\r\n\v\fa b \r\n"), "a b");
  EXPECT_EQ(trim(" \t "), "");
  EXPECT_EQ(trim(""), "");
  EXPECT_EQ(trim("x"), "x");
  EXPECT_EQ(trim("\u00a0 \u3000x\u2009y\u0085\u2028 "), "x\u2009y");
  EXPECT_EQ(trim("\ufeffx\u200b"), "\ufeffx\u200b");
  EXPECT_EQ(trim("\x85x\xa0"), "\x85x\xa0");
}

TEST(LowerCase, ChangesAsciiLettersAlone) { EXPECT_EQ(lower_case("AZaz09[@\u00c4"), "azaz09[@\u00c4"); }

TEST(EqualsIgnoringCase, LooksAtLettersAlone) {
  EXPECT_TRUE(equals_ignoring_case("", ""));
  EXPECT_TRUE(equals_ignoring_case("Content-Length", "content-lENGTH"));
  EXPECT_FALSE(equals_ignoring_case("ab", "abc"));
  EXPECT_FALSE(equals_ignoring_case("@", "`"));
  EXPECT_FALSE(equals_ignoring_case("\x1a", ":"));
}

const TextCase kBase64Cases[] = {
    {"Empty", "", ""},
    {"One", "f", "Zg=="},
    {"Two", "fo", "Zm8="},
    {"Three", "foo", "Zm9v"},
    {"Six", "foobar", "Zm9vYmFy"},
    {"Binary", std::string{"\0\x01\xff\n", 4}, "AAH/Cg=="},
    {"BothSpecialLetters", "\xfb\xff\xbf", "+/+/"},
};

struct DecimalCase {
  const char* name;
  std::string_view text;
  std::optional<double> want;
};

const DecimalCase kDecimalCases[] = {
    {"Whole", "200", 200.0},
    {"Fraction", "99.95", 99.95},
    {"LeadingPoint", ".5", 0.5},
    {"TrailingPoint", "1.", 1.0},
    {"MostDigits", "0.99999999999999", 0.99999999999999},
    {"LeadingZeros", "0000000000000000012", 12.0},
    {"ZeroBeforeMostDigits", "0.077807782167004", 0.077807782167004},
    {"Zero", "0", 0.0},
    {"Empty", "", std::nullopt},
    {"PointAlone", ".", std::nullopt},
    {"TwoPoints", "1.2.3", std::nullopt},
    {"Negative", "-1", std::nullopt},
    {"Exponent", "1e3", std::nullopt},
    {"Blank", " 1", std::nullopt},
    {"TooManyDigits", "1234567890.123456", std::nullopt},
    {"TooManyDigitsBehindThePoint", "0.0000000000000001", std::nullopt},
    {"Infinity", "inf", std::nullopt},
};

TEST(ParseDecimal, TakesPlainNumbersAlone) {
  for (const DecimalCase& row : kDecimalCases) EXPECT_EQ(parse_decimal(row.text), row.want) << row.name;
}

TEST(Base64, WritesAndReads) {
  for (const TextCase& row : kBase64Cases) {
    SCOPED_TRACE(row.name);
    std::string out = "x";
    append_base64(row.text, out);
    EXPECT_EQ(out, "x" + row.want);
    const auto got = decode_base64(row.want);
    ASSERT_TRUE(got) << got.error().text();
    EXPECT_EQ(*got, row.text);
  }
}

TEST(Base64, RoundTripsAnyBytes) {
  std::mt19937 random{3};
  for (std::size_t length = 0; length < 300; ++length) {
    std::string want(length, '\0');
    for (char& c : want) c = static_cast<char>(random());
    std::string text;
    append_base64(want, text);
    ASSERT_EQ(decode_base64(text).value(), want);
  }
}

TEST(Base64, SkipsLineBreaks) {
  EXPECT_EQ(decode_base64("Zm9v\r\nYmFy\n").value(), "foobar");
  EXPECT_EQ(decode_base64("Zg=\n=\n").value(), "f");
}

TEST(Base64, NamesTheOffsetOfAFault) {
  const TextCase cases[] = {
      {"Letter", "Zm9v!Zm8=", "4"}, {"UrlAlphabet", "-_-_", "0"},  {"NoPadding", "Zg", "2"},
      {"ShortPadding", "Zg=", "3"}, {"LongPadding", "Zg===", "4"}, {"TextAfter", "Zg==Zg", "4"},
      {"PaddingOnly", "====", "0"}, {"OneLetter", "Z===", "1"},    {"Blank", "Zm 9v", "2"},
  };
  for (const TextCase& row : cases) {
    SCOPED_TRACE(row.name);
    const auto got = decode_base64(row.text);
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().text(), "illegal base64 data at input byte " + row.want);
  }
}

struct TerminalCase {
  const char* name;
  std::string text;
  std::string want;
};

const TerminalCase kTerminalCases[] = {
    {"Plain", "404 Not Found", "404 Not Found"},
    {"LayoutStays", "a\tb\nc", "a\tb\nc"},
    {"Escape", "\x1b[2J", "\\x1b[2J"},
    {"CarriageReturnAndBell", "a\r\ab", "a\\x0d\\x07b"},
    {"Delete", "\x7f", "\\x7f"},
    {"Nul", std::string{"a\0b", 3}, "a\\x00b"},
    {"C1InUtf8", "\u009b2J", "\\x9b2J"},
    {"C1AsOneByte",
     "\x9b"
     "2J",
     "\\x9b2J"},
    {"Utf8Stays", "失敗: zürich", "失敗: zürich"},
    {"NoUtf8", "caf\xe9\xff", "caf\\xe9\\xff"},
    {"CutUtf8", "\xc2", "\\xc2"},
    {"TurnedText", "a\u202eb\u2066c\u061c", "a\\u202eb\\u2066c\\u061c"},
    {"LineSeparators", "a\u2028b\u2029", "a\\u2028b\\u2029"},
    {"WideBlankStays", "a\u3000b", "a\u3000b"},
};

TEST(TerminalSafeText, EscapesWhatDrivesATerminal) {
  for (const TerminalCase& row : kTerminalCases) {
    SCOPED_TRACE(row.name);
    std::string out;
    append_terminal_safe(row.text, out);
    EXPECT_EQ(out, row.want);
  }
}

TEST(WithoutCredentials, HidesThemAlone) {
  EXPECT_EQ(without_credentials("http://u:secret@h:1/a:b@c"), "http://***@h:1/a:b@c");
  EXPECT_EQ(without_credentials("http://u:a@b@h"), "http://***@h");
  EXPECT_EQ(without_credentials("http://token@h:1/"), "http://***@h:1/");
  EXPECT_EQ(without_credentials("//u:secret@h?x"), "//***@h?x");
  EXPECT_EQ(without_credentials("http://u:@[::1]:80/"), "http://***@[::1]:80/");
  for (const char* same : {"", "/", "http://", "http://h:1/?a@b", "http://h:1/@", "http://h:/@", "http://h/?a:b@c",
                           "http://[::1]:80/", "http://[::1]:80/a@b", "http://[::1/a", "h:80/@x", "a: b"})
    EXPECT_EQ(without_credentials(same), same);
}

TEST(WithoutCredentials, HidesWhatIsNoUrlYet) {
  EXPECT_EQ(without_credentials("http://u:se/cr?e#t@h/"), "http://***@h/");
  EXPECT_EQ(without_credentials("http://u:1/2x@h/"), "http://u:1/2x@h/") << "a port and a path";
  EXPECT_EQ(without_credentials("u:secret@h/"), "***@h/");
  for (const char* slashes : {"http:/", "https:/", "http:///", "http//", "/"}) {
    const std::string begin = slashes;
    EXPECT_EQ(without_credentials(begin + "u:secret@h/"), begin + "***@h/");
  }
  EXPECT_EQ(without_credentials("u:se/cret@h/"), "***@h/");
  EXPECT_EQ(without_credentials("u:secret@h//x"), "***@h//x");
  EXPECT_EQ(without_credentials("u:se://cret@h/"), "***@h/");
  EXPECT_EQ(without_credentials("/a//u:x@y"), "/a//u:x@y") << "a path";
}

TEST(WithoutValue, LeavesTheNameOfAHeaderOrAUrl) {
  EXPECT_EQ(without_value("Authorization: Bearer secret"), "Authorization:");
  EXPECT_EQ(without_value("Cookie=secret"), "Cookie");
  EXPECT_EQ(without_value("token secret"), "token");
  EXPECT_EQ(without_value("X-Pin:1234"), "X-Pin:");
  EXPECT_EQ(without_value("http://u:secret@h/"), "http://***@h/");
  EXPECT_EQ(without_value("127.0.0.1:80/x"), "127.0.0.1:80/x");
  EXPECT_EQ(without_value("word"), "word");
}

}  // namespace
}  // namespace pepe
