#include <string>

#include <gtest/gtest.h>

#include "pepe/target/url.h"

namespace pepe {
namespace {

struct ReferenceCase {
  const char* reference;
  const char* want;
};

// RFC 3986, sections 5.4.1 and 5.4.2, against its base.
constexpr ReferenceCase kRfcCases[] = {
    {"g", "http://a/b/c/g"},
    {"./g", "http://a/b/c/g"},
    {"g/", "http://a/b/c/g/"},
    {"/g", "http://a/g"},
    {"//g", "http://g"},
    {"?y", "http://a/b/c/d;p?y"},
    {"g?y", "http://a/b/c/g?y"},
    {"#s", "http://a/b/c/d;p?q#s"},
    {"g#s", "http://a/b/c/g#s"},
    {"g?y#s", "http://a/b/c/g?y#s"},
    {";x", "http://a/b/c/;x"},
    {"g;x", "http://a/b/c/g;x"},
    {"g;x?y#s", "http://a/b/c/g;x?y#s"},
    {"", "http://a/b/c/d;p?q"},
    {".", "http://a/b/c/"},
    {"./", "http://a/b/c/"},
    {"..", "http://a/b/"},
    {"../", "http://a/b/"},
    {"../g", "http://a/b/g"},
    {"../..", "http://a/"},
    {"../../", "http://a/"},
    {"../../g", "http://a/g"},
    {"../../../g", "http://a/g"},
    {"../../../../g", "http://a/g"},
    {"/./g", "http://a/g"},
    {"/../g", "http://a/g"},
    {"g.", "http://a/b/c/g."},
    {".g", "http://a/b/c/.g"},
    {"g..", "http://a/b/c/g.."},
    {"..g", "http://a/b/c/..g"},
    {"./../g", "http://a/b/g"},
    {"./g/.", "http://a/b/c/g/"},
    {"g/./h", "http://a/b/c/g/h"},
    {"g/../h", "http://a/b/c/h"},
    {"g;x=1/./y", "http://a/b/c/g;x=1/y"},
    {"g;x=1/../y", "http://a/b/c/y"},
    {"g?y/./x", "http://a/b/c/g?y/./x"},
    {"g?y/../x", "http://a/b/c/g?y/../x"},
    {"g#s/./x", "http://a/b/c/g#s/./x"},
    {"g#s/../x", "http://a/b/c/g#s/../x"},
};

TEST(ResolveReference, FollowsTheExamplesOfTheRfc) {
  for (const ReferenceCase& row : kRfcCases) {
    SCOPED_TRACE(row.reference);
    const auto got = resolve_reference("http://a/b/c/d;p?q", row.reference);
    ASSERT_TRUE(got) << got.error().text();
    EXPECT_EQ(*got, row.want);
  }
}

struct LocationCase {
  const char* name;
  const char* base;
  const char* reference;
  const char* want;
};

constexpr LocationCase kLocationCases[] = {
    {"Absolute", "http://h/a", "HTTPS://Other:1/x/../y?q", "https://Other:1/y?q"},
    {"AbsoluteWithoutPath", "http://h/a", "http://other", "http://other"},
    {"FromABaseWithoutPath", "http://h", "next?a=1", "http://h/next?a=1"},
    {"QueryOfABaseWithoutPath", "http://h", "?a=1", "http://h?a=1"},
    {"CredentialsOfTheBaseStay", "http://u:p@h:1/a/b", "c", "http://u:p@h:1/a/c"},
    {"OwnAuthorityDropsCredentials", "http://u:p@h:1/a/b", "//other/c", "http://other/c"},
    {"BlankIsEscaped", "http://h/", "a b?c d", "http://h/a%20b?c%20d"},
    {"OutsideAsciiIsEscaped", "http://h/", "/\u00fc", "http://h/%C3%BC"},
    {"EscapesStay", "http://h/", "/%2e%2E/a%2fb", "http://h/%2e%2E/a%2fb"},
    {"ThreeSlashesAreAPath", "http://h/", "///x", "http://h///x"},
    {"NoAuthorityBehindTwoSlashes", "http://h/a?b", "//", "http://h/a?b"},
    {"EmptyQueryReplacesTheQuery", "http://h/a?b", "?", "http://h/a?"},
    {"EmptySegmentsStay", "http://h/a", "b//c", "http://h/b//c"},
    {"PathThatWouldBecomeAnAuthority", "http://h/", "http:/..//x", "http:/.//x"},
    {"File", "http://h/", "file:///etc/hosts", "file:///etc/hosts"},
    {"Ftp", "http://h/", "ftp://127.0.0.1/x", "ftp://127.0.0.1/x"},
    {"Opaque", "http://h/", "mailto:a@b", "mailto:a@b"},
    {"ColonInALaterSegment", "http://h/a/", "./b:c", "http://h/a/b:c"},
};

TEST(ResolveReference, MakesALocationAbsolute) {
  for (const LocationCase& row : kLocationCases) {
    SCOPED_TRACE(row.name);
    const auto got = resolve_reference(row.base, row.reference);
    ASSERT_TRUE(got) << got.error().text();
    EXPECT_EQ(*got, row.want);
  }
}

TEST(ResolveReference, RefusesInGosWords) {
  constexpr ReferenceCase kFaults[] = {
      {"http://[::1/x", R"(parse "http://[::1/x": missing ']' in host)"},
      {"http://127.0.0.1:99999/x",
       R"(parse "http://127.0.0.1:99999/x": invalid port ":99999" after host: want 1 to 65535)"},
      {"1a:b", R"(parse "1a:b": first path segment in URL cannot contain colon)"},
      {":x", R"(parse ":x": missing protocol scheme)"},
      {"/%zz", R"(parse "/%zz": invalid URL escape "%zz")"},
      {"#%zz", R"(parse "#%zz": invalid URL escape "%zz")"},
      {"/\n", R"(parse "/\n": net/url: invalid control character in URL)"},
      {"//a b/", R"(parse "//a b/": invalid character " " in host name)"},
  };
  for (const ReferenceCase& row : kFaults) {
    SCOPED_TRACE(row.reference);
    const auto got = resolve_reference("http://h/", row.reference);
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().text(), row.want);
  }
}

TEST(ResolveReference, TakesLinearTimeForAHostilePath) {
  std::string dots;
  for (int i = 0; i < 300'000; ++i) dots += "a/../";
  EXPECT_EQ(resolve_reference("http://h/", dots).value(), "http://h/");
}

}  // namespace
}  // namespace pepe
