#include "pepe/target/url.h"

#include <string>

#include <gtest/gtest.h>

namespace pepe {
namespace {

struct UrlCase {
  const char* name;
  std::string text;
  const char* scheme;
  const char* host;
  const char* authority;
  int port;
  const char* path_and_query;
};

const UrlCase kUrlCases[] = {
    {"Usual", "http://127.0.0.1:8080/a?b=c", "http", "127.0.0.1", "127.0.0.1:8080", 8080, "/a?b=c"},
    {"NoPath", "http://h", "http", "h", "h", 0, "/"},
    {"QueryWithoutPath", "http://h?x=1", "http", "h", "h", 0, "/?x=1"},
    {"EmptyQueryIsKept", "http://h/?", "http", "h", "h", 0, "/?"},
    {"TwoQuestionMarks", "http://h/?a?b", "http", "h", "h", 0, "/?a?b"},
    {"FragmentStaysAtHome", "http://h/p/q?a=1&b=%20c&b=d;e#frag", "http", "h", "h", 0, "/p/q?a=1&b=%20c&b=d;e"},
    {"FragmentAfterTheHost", "http://h#frag", "http", "h", "h", 0, "/"},
    {"CapitalScheme", "HTTPS://H:443/A", "https", "H", "H:443", 443, "/A"},
    {"EmptyHost", "http://:8080/", "http", "", ":8080", 8080, "/"},
    {"NoHost", "http:///x", "http", "", "", 0, "/x"},
    {"EmptyPort", "http://h:/", "http", "h", "h", 0, "/"},
    {"Ipv6", "http://[::1]:80/", "http", "::1", "[::1]:80", 80, "/"},
    {"Ipv6WithoutPort", "http://[2001:DB8::1]/", "http", "2001:DB8::1", "[2001:DB8::1]", 0, "/"},
    {"Ipv6OverIpv4", "http://[::ffff:127.0.0.1]/", "http", "::ffff:127.0.0.1", "[::ffff:127.0.0.1]", 0, "/"},
    {"ZoneIsNotSent", "http://[fe80::1%25lo]:80/", "http", "fe80::1%lo", "[fe80::1]:80", 80, "/"},
    {"DotSegmentsStay", "http://h/a/../b/./c", "http", "h", "h", 0, "/a/../b/./c"},
    {"EscapesStay", "http://h/a%2Fb/%7Euser", "http", "h", "h", 0, "/a%2Fb/%7Euser"},
    {"BlankIsEscaped", "http://h/a b?c d", "http", "h", "h", 0, "/a%20b?c%20d"},
    {"EscapesStayBesideABlank", "http://h/a%2fb c", "http", "h", "h", 0, "/a%2fb%20c"},
    {"OutsideAscii", "http://h/gr\u00fc\u00df?q=\u00fc", "http", "h", "h", 0, "/gr%C3%BC%C3%9F?q=%C3%BC"},
    {"NoUtf8", "http://h/\xff", "http", "h", "h", 0, "/%FF"},
    {"BracesInAPath", "http://h/{id}|<x>?{id}", "http", "h", "h", 0, "/%7Bid%7D%7C%3Cx%3E?{id}"},
    {"MarksInAPath", "http://h/!$&'()*+,;=:@[]-._~", "http", "h", "h", 0, "/!$&'()*+,;=:@[]-._~"},
    {"OddEscapeInAQuery", "http://h/?100%", "http", "h", "h", 0, "/?100%"},
    {"PathOnly", "/foo?x", "", "", "", 0, "/foo?x"},
    {"PathOfTwoSlashes", "//h/x", "", "", "", 0, "//h/x"},
    {"Star", "*", "", "", "", 0, "*"},
    {"OtherScheme", "ftp://h/x", "ftp", "h", "h", 0, "/x"},
    {"LargestPort", "http://h:65535/", "http", "h", "h:65535", 65535, "/"},
    {"UnderscoreInAHost", "http://a_b.c/", "http", "a_b.c", "a_b.c", 0, "/"},
};

TEST(ParseRequestUri, TakesAUrlApart) {
  for (const UrlCase& row : kUrlCases) {
    SCOPED_TRACE(row.name);
    const auto url = parse_request_uri(row.text);
    ASSERT_TRUE(url) << url.error().text();
    EXPECT_EQ(url->scheme, row.scheme);
    EXPECT_EQ(url->host, row.host);
    EXPECT_EQ(url->authority, row.authority);
    EXPECT_EQ(url->port, row.port);
    EXPECT_EQ(url->path_and_query, row.path_and_query);
    EXPECT_FALSE(url->has_userinfo);
  }
}

struct UserinfoCase {
  const char* name;
  const char* text;
  const char* userinfo;
  const char* host;
};

constexpr UserinfoCase kUserinfoCases[] = {
    {"UserAndPassword", "http://u:p@h/", "u:p", "h"},
    {"Decoded", "http://user:pa%3Ass@h/", "user:pa:ss", "h"},
    {"UserOnly", "http://u@h/", "u", "h"},
    {"Empty", "http://@h/", "", "h"},
    {"AtSignInThePassword", "http://u:a@b@h/", "u:a@b", "h"},
    {"BeforeIpv6", "http://u:p@[::1]:1/", "u:p", "::1"},
};

TEST(ParseRequestUri, DecodesCredentials) {
  for (const UserinfoCase& row : kUserinfoCases) {
    SCOPED_TRACE(row.name);
    const auto url = parse_request_uri(row.text);
    ASSERT_TRUE(url) << url.error().text();
    EXPECT_TRUE(url->has_userinfo);
    EXPECT_EQ(url->userinfo, row.userinfo);
    EXPECT_EQ(url->host, row.host);
    EXPECT_EQ(url->authority.find('@'), std::string::npos);
  }
}

struct FaultCase {
  const char* name;
  std::string text;
  std::string want;
};

const FaultCase kFaultCases[] = {
    {"Empty", "", R"(parse "": empty url)"},
    {"Relative", "foo/bar", R"(parse "foo/bar": invalid URI for request)"},
    {"NoScheme", "127.0.0.1:80/", R"(parse "127.0.0.1:80/": invalid URI for request)"},
    {"LeadingBlank", " http://h/", R"(parse " http://h/": invalid URI for request)"},
    {"EmptyScheme", ":x", R"(parse ":x": missing protocol scheme)"},
    {"Control", "http://h/\x01", R"(parse "http://h/\x01": net/url: invalid control character in URL)"},
    {"LineBreak", "http://h/\r\nX: 1", R"(parse "http://h/\r\nX: 1": net/url: invalid control character in URL)"},
    {"Delete", "http://h/\x7f", R"(parse "http://h/\x7f": net/url: invalid control character in URL)"},
    {"NoBracket", "http://[::1/", R"(parse "http://[::1/": missing ']' in host)"},
    {"WordAsPort", "http://127.0.0.1:x/", R"(parse "http://127.0.0.1:x/": invalid port ":x" after host)"},
    {"TwoPorts", "http://h:80:90/", R"(parse "http://h:80:90/": invalid port ":80:90" after host)"},
    {"Ipv6WithoutBrackets", "http://::1/", R"(parse "http://::1/": invalid port "::1" after host)"},
    {"WordBehindBrackets", "http://[::1]x/", R"(parse "http://[::1]x/": invalid port "x" after host)"},
    {"SignedPort", "http://h:-1/", R"(parse "http://h:-1/": invalid port ":-1" after host)"},
    {"PortTooLarge", "http://h:65536/",
     R"(parse "http://h:65536/": invalid port ":65536" after host: want 1 to 65535)"},
    {"PortFarTooLarge", "http://h:99999999999999999999/",
     R"(parse "http://h:99999999999999999999/": invalid port ":99999999999999999999" after host: want 1 to 65535)"},
    {"PortZero", "http://h:0/", R"(parse "http://h:0/": invalid port ":0" after host: want 1 to 65535)"},
    {"BadEscape", "http://127.0.0.1/%zz", R"(parse "http://127.0.0.1/%zz": invalid URL escape "%zz")"},
    {"CutEscape", "http://h/a%4", R"(parse "http://h/a%4": invalid URL escape "%4")"},
    {"BlankInAHost", "http://a b/", R"(parse "http://a b/": invalid character " " in host name)"},
    {"BackslashInAHost", "http://h\\x/", R"(parse "http://h\\x/": invalid character "\\" in host name)"},
    {"EscapeInAHost", "http://h%20x/", R"(parse "http://h%20x/": invalid URL escape "%20")"},
    {"HostOutsideAscii", "http://b\u00fccher.test/",
     "parse \"http://b\u00fccher.test/\": host name outside ASCII: want its form in letters, digits and dots "
     "(xn--...)"},
    {"WordInBrackets", "http://[foo]/", R"(parse "http://[foo]/": invalid host: "[foo]" is no IPv6 address)"},
    {"Ipv4InBrackets", "http://[1.2.3.4]/",
     R"(parse "http://[1.2.3.4]/": invalid host: "[1.2.3.4]" is no IPv6 address)"},
    {"BareZone", "http://[fe80::1%lo]/", R"(parse "http://[fe80::1%lo]/": invalid URL escape "%lo")"},
    {"ControlInAZone", "http://[fe80::1%25%0a]/",
     R"(parse "http://[fe80::1%25%0a]/": invalid zone in host "[fe80::1%25%0a]")"},
    {"BlankInCredentials", "http://us er@h/", R"(parse "http://***@h/": net/url: invalid userinfo)"},
    {"BadEscapeInCredentials", "http://u:%zz@h/", R"(parse "http://***@h/": invalid URL escape "***")"},
    {"SlashInAPassword", "http://u:pa/ss@h/", R"(parse "http://***@h/": invalid port "***" after host)"},
    {"QuestionMarkInAPassword", "http://u:pa?ss@h/", R"(parse "http://***@h/": invalid port "***" after host)"},
    {"HashInAPassword", "http://u:pa#ss@h/", R"(parse "http://***@h/": invalid port "***" after host)"},
    {"BlankInAPassword", "http://u:pa ss@h/", R"(parse "http://***@h/": net/url: invalid userinfo)"},
};

TEST(ParseRequestUri, RefusesInGosWords) {
  for (const FaultCase& row : kFaultCases) {
    SCOPED_TRACE(row.name);
    const auto url = parse_request_uri(row.text);
    ASSERT_FALSE(url);
    EXPECT_EQ(url.error().text(), row.want);
  }
}

TEST(ParseRequestUri, DoesNotRepeatAHugeUrlInItsError) {
  const auto url = parse_request_uri("http://h/%zz" + std::string(10'000'000, 'a'));
  ASSERT_FALSE(url);
  EXPECT_LT(url.error().text().size(), 3'000U);
}

TEST(ParseRequestUri, ShowsNoCredentialsOfAnyLength) {
  for (const std::size_t size : {std::size_t{10}, std::size_t{3'000}}) {
    const auto url = parse_request_uri("http://" + std::string(size, 'u') + ":" + std::string(size, 'p') + "@h/%zz");
    ASSERT_FALSE(url);
    EXPECT_EQ(url.error().text(), R"(parse "http://***@h/%zz": invalid URL escape "***")") << size;
  }
}

TEST(Url, KnowsTheDefaultPortOfItsScheme) {
  EXPECT_EQ(parse_request_uri("http://h/").value().port_or_default(), 80);
  EXPECT_EQ(parse_request_uri("https://h/").value().port_or_default(), 443);
  EXPECT_EQ(parse_request_uri("https://h:8443/").value().port_or_default(), 8443);
}

}  // namespace
}  // namespace pepe
