#include "engine/request.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace pepe {
namespace {

Target target_of(std::string method, std::string url, std::vector<HeaderField> headers = {},
                 const char* body = nullptr) {
  return {std::move(method), std::move(url), std::move(headers),
          body == nullptr ? nullptr : std::make_shared<const std::string>(body)};
}

// The whole request as sent for hit 7.
std::string wire(const Target& target, RequestOptions options = {}) {
  options.user_agent = "pepe/test";
  const Request request = make_request(target, options);
  return request.head + "7" + request.tail + (request.body ? *request.body : "");
}

struct WireCase {
  const char* name;
  Target target;
  RequestOptions options;
  const char* want;
};

const WireCase kWireCases[] = {
    {"GetAsksForGzip",
     target_of("GET", "http://h:81/a?b#c"),
     {},
     "GET /a?b HTTP/1.1\r\nHost: h:81\r\nUser-Agent: pepe/test\r\nAccept-Encoding: gzip\r\nX-Vegeta-Seq: 7\r\n\r\n"},
    {"HeadDoesNot",
     target_of("HEAD", "http://h/"),
     {},
     "HEAD / HTTP/1.1\r\nHost: h\r\nUser-Agent: pepe/test\r\nX-Vegeta-Seq: 7\r\n\r\n"},
    {"RangeTurnsGzipOff",
     target_of("GET", "http://h", {{"Range", "bytes=0-1"}}),
     {},
     "GET / HTTP/1.1\r\nHost: h\r\nUser-Agent: pepe/test\r\nRange: bytes=0-1\r\nX-Vegeta-Seq: 7\r\n\r\n"},
    {"PostWithoutBodySaysSo",
     target_of("POST", "http://h/", {{"Accept-Encoding", "br"}}),
     {},
     "POST / HTTP/1.1\r\nHost: h\r\nUser-Agent: pepe/test\r\nContent-Length: 0\r\nAccept-Encoding: br\r\nX-Vegeta-Seq: "
     "7\r\n\r\n"},
    {"BodyIsFramedByItsLength",
     target_of("PUT", "http://h/", {{"Accept-Encoding", "br"}, {"Content-Length", "99"}}, "hey"),
     {},
     "PUT / HTTP/1.1\r\nHost: h\r\nUser-Agent: pepe/test\r\nContent-Length: 3\r\nAccept-Encoding: br\r\nX-Vegeta-Seq: "
     "7\r\n\r\nhey"},
    {"ChunkedIsOneChunk",
     target_of("PUT", "http://h/", {{"Accept-Encoding", "br"}}, "hey"),
     {.chunked = true},
     "PUT / HTTP/1.1\r\nHost: h\r\nUser-Agent: pepe/test\r\nTransfer-Encoding: chunked\r\nAccept-Encoding: "
     "br\r\nX-Vegeta-Seq: 7\r\n\r\n"
     "3\r\nhey\r\n0\r\n\r\n"},
    {"HeadersAreSortedAndKeepTheirSpelling",
     target_of("HEAD", "http://h/", {{"b", "1"}, {"A", "2"}, {"b", " 3 "}, {"Host", "v"}, {"User-Agent", ""}}),
     {},
     "HEAD / HTTP/1.1\r\nHost: v\r\nA: 2\r\nb: 1\r\nb: 3\r\nX-Vegeta-Seq: 7\r\n\r\n"},
    {"TheAttackIsNamedAndItsHeadersCannotBeSet",
     target_of("HEAD", "http://h/", {{"X-Vegeta-Seq", "x"}, {"X-Vegeta-Attack", "y"}}),
     {.attack = "run"},
     "HEAD / HTTP/1.1\r\nHost: h\r\nUser-Agent: pepe/test\r\nX-Vegeta-Attack: run\r\nX-Vegeta-Seq: 7\r\n\r\n"},
    {"WithoutANameTheHeaderIsTheTargets",
     target_of("HEAD", "http://h/", {{"X-Vegeta-Attack", "y"}}),
     {},
     "HEAD / HTTP/1.1\r\nHost: h\r\nUser-Agent: pepe/test\r\nX-Vegeta-Attack: y\r\nX-Vegeta-Seq: 7\r\n\r\n"},
    {"CredentialsBecomeBasicAuthorization",
     target_of("HEAD", "http://u:p@h/"),
     {},
     "HEAD / HTTP/1.1\r\nHost: h\r\nUser-Agent: pepe/test\r\nAuthorization: Basic dTpw\r\nX-Vegeta-Seq: 7\r\n\r\n"},
    {"WithoutKeepaliveItSaysClose",
     target_of("HEAD", "http://h/"),
     {.keepalive = false},
     "HEAD / HTTP/1.1\r\nHost: h\r\nUser-Agent: pepe/test\r\nConnection: close\r\nX-Vegeta-Seq: 7\r\n\r\n"},
};

TEST(Request, IsTheBytesThatItsTargetAsksFor) {
  for (const WireCase& row : kWireCases) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(wire(row.target, row.options), row.want);
  }
}

TEST(Request, KeepsALargeBodyInItsOwnMemory) {
  const auto body = std::make_shared<const std::string>(100'000, 'x');
  Target target = target_of("POST", "http://h/");
  target.body = body;
  const Request request = make_request(target, {});
  EXPECT_EQ(request.body, body);
  EXPECT_EQ(request.tail, "\r\n\r\n");
  EXPECT_EQ(request.body_bytes, 100'000U);
}

TEST(Request, MayBeSentTwiceOnlyWithoutABodyAndSideEffects) {
  EXPECT_TRUE(make_request(target_of("GET", "http://h/"), {}).retry_safe);
  EXPECT_TRUE(make_request(target_of("OPTIONS", "http://h/"), {}).retry_safe);
  EXPECT_FALSE(make_request(target_of("GET", "http://h/", {}, "x"), {}).retry_safe);
  EXPECT_FALSE(make_request(target_of("POST", "http://h/"), {}).retry_safe);
  EXPECT_FALSE(make_request(target_of("DELETE", "http://h/"), {}).retry_safe);
}

struct FaultCase {
  const char* name;
  Target target;
  const char* want;
};

const FaultCase kFaultCases[] = {
    {"Method", target_of("G T", "http://h/"), "net/http: invalid method \"G T\""},
    {"HeaderName", target_of("GET", "http://h/", {{"GET http", "x"}}),
     "Get \"http://h/\": net/http: invalid header field name \"GET http\""},
    {"MethodOfTwoLines", target_of("G\r\n", "http://h/"), R"(net/http: invalid method "G\r\n")"},
    {"HeaderNameOfTwoLines", target_of("GET", "http://h/", {{"A\nB", "x"}}),
     R"(Get "http://h/": net/http: invalid header field name "A\nB")"},
    {"HeaderValue", target_of("GET", "http://h/", {{"X-A", "a\r\nX-B: b"}}),
     "Get \"http://h/\": net/http: invalid header field value for \"X-A\""},
    {"Scheme", target_of("GET", "ftp://h/"), "Get \"ftp://h/\": unsupported protocol scheme \"ftp\""},
    {"NoHost", target_of("POST", "http:///x"), "Post \"http:///x\": http: no Host in request URL"},
    {"APasswordWithAnAtIsNotShown", target_of("GET", "ftp://u:p@ss@h/"),
     "Get \"ftp://***@h/\": unsupported protocol scheme \"ftp\""},
    {"ThePasswordIsNotShown", target_of("GET", "ftp://u:secret@h/"),
     "Get \"ftp://***@h/\": unsupported protocol scheme \"ftp\""},
};

TEST(Request, SaysWhyItCannotBeSent) {
  for (const FaultCase& row : kFaultCases) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(make_request(row.target, {}).fault, row.want);
  }
}

TEST(Request, HasNoNameThatWouldBeHeadersOfItsOwn) {
  const Request request = make_request(target_of("GET", "http://h/"), {.attack = "run\r\nX-B: b"});
  EXPECT_EQ(request.fault, "Get \"http://h/\": net/http: invalid header field value for \"X-Vegeta-Attack\"");
}

TEST(Redirect, TurnsPostIntoGetUnlessTheCodeKeepsIt) {
  const Target post = target_of("POST", "http://h/a/b", {}, "body");
  for (const int code : {301, 302, 303}) {
    const auto next = follow_redirect(post, post, code, "../c");
    ASSERT_TRUE(next);
    EXPECT_EQ(next->method, "GET");
    EXPECT_EQ(next->url, "http://h/c");
    EXPECT_EQ(next->body, nullptr);
  }
  for (const int code : {307, 308}) {
    const auto next = follow_redirect(post, post, code, "/d");
    ASSERT_TRUE(next);
    EXPECT_EQ(next->method, "POST");
    EXPECT_EQ(next->body, post.body);
  }
}

TEST(Redirect, LeavesCredentialsBehindOnAnotherHost) {
  const Target from =
      target_of("GET", "http://u:p@h/a", {{"Authorization", "x"}, {"Cookie", "y"}, {"Host", "v"}, {"X-A", "z"}});
  const auto same = follow_redirect(from, from, 302, "/b");
  ASSERT_TRUE(same);
  EXPECT_EQ(same->headers.front(), (HeaderField{"Authorization", "x"}));
  EXPECT_EQ(same->headers.back(), (HeaderField{"Referer", "http://h/a"}));
  const auto other = follow_redirect(from, from, 302, "http://elsewhere/");
  ASSERT_TRUE(other);
  EXPECT_EQ(other->headers, (std::vector<HeaderField>{{"X-A", "z"}, {"Referer", "http://h/a"}}));
}

TEST(Redirect, LeavesCredentialsBehindHoweverTheyAreSpelled) {
  for (const char* name : {"Authorization", "authorization", "COOKIE", "cookie2", "WWW-Authenticate",
                           "Proxy-Authorization", "proxy-authenticate"}) {
    const Target from = target_of("GET", "http://h/a", {{name, "secret"}});
    const auto other = follow_redirect(from, from, 302, "http://elsewhere/");
    ASSERT_TRUE(other);
    EXPECT_EQ(other->headers, (std::vector<HeaderField>{{"Referer", "http://h/a"}})) << name;
  }
  const Target from = target_of("GET", "http://u:p@ss@h/a?x=@");
  const auto next = follow_redirect(from, from, 302, "/b");
  ASSERT_TRUE(next);
  EXPECT_EQ(next->headers, (std::vector<HeaderField>{{"Referer", "http://h/a?x=@"}}));
}

struct TrustCase {
  const char* name;
  std::vector<const char*> locations;  ///< From https://h/a on.
  bool kept;
};

const TrustCase kTrustCases[] = {
    {"Path", {"/b"}, true},
    {"HostInCapitals", {"https://H/"}, true},
    {"OtherPort", {"https://h:8443/"}, true},
    {"OtherHost", {"https://g/"}, false},
    {"Subdomain", {"https://x.h/"}, false},
    {"SuffixOfTheHost", {"https://evilh/"}, false},
    {"HostAsUser", {"https://h@g/"}, false},
    {"HostAsCredentials", {"https://h:443@g/"}, false},
    {"WithoutScheme", {"//g/"}, false},
    {"ClearText", {"http://h/"}, false},
    {"BackFromAnotherHost", {"https://g/", "https://h/"}, false},
    {"BackFromClearText", {"http://h/", "https://h/"}, false},
};

TEST(Redirect, TakesSecretsAlongWhereTheyCameFromOnly) {
  for (const TrustCase& row : kTrustCases) {
    SCOPED_TRACE(row.name);
    const Target original = target_of("GET", "https://h/a", {{"Authorization", "x"}, {"Cookie", "y"}});
    Target target = original;
    for (const char* location : row.locations) {
      auto next = follow_redirect(original, target, 307, location);
      ASSERT_TRUE(next);
      target = *std::move(next);
    }
    const auto secret = [](const HeaderField& field) { return field.name != "Referer"; };
    EXPECT_EQ(std::count_if(target.headers.begin(), target.headers.end(), secret), row.kept ? 2 : 0);
  }
}

}  // namespace
}  // namespace pepe
