// Where secrets must not turn up, wherever they are given and whatever goes wrong.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "e2e/pepe_binary.h"
#include "support/certificates.h"
#include "support/connect_proxy.h"
#include "support/temp_dir.h"
#include "support/test_server.h"
#include "support/tls_server.h"

namespace pepe {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// The secret, and what it is within `Authorization: Basic` behind "u:".
constexpr const char* kSecret = "HUSHHUSH";
constexpr const char* kSecretInBase64 = "dTpIVVNISFVT";

void expect_no_secret(const std::string& text) {
  EXPECT_THAT(text, Not(HasSubstr(kSecret)));
  EXPECT_THAT(text, Not(HasSubstr(kSecretInBase64)));
}

/// Answers well and badly, by the path that is asked for.
TestAnswer answer(const TestRequest& request) {
  const auto moved = [](const std::string& to) {
    return TestAnswer{.status = 302, .reason = "Found", .headers = {"Location: " + to}};
  };
  if (request.target == "/500") return {.status = 500, .reason = "Oops"};
  if (request.target == "/drop") return {.drop = true};
  if (request.target == "/loop") return moved("/loop");
  if (request.target == "/scheme") return moved("ftp://elsewhere.test/");
  if (request.target == "/bad") return moved("http://[::1/");
  if (request.target == "/refused") return moved("http://localhost:1/");
  if (request.target == "/slow") return {.delay = std::chrono::milliseconds{400}};
  return {};
}

constexpr const char* kPaths[] = {"/", "/500", "/drop", "/loop", "/scheme", "/bad", "/refused", "/slow"};

struct Place {
  const char* name;
  std::string credentials;  ///< In front of the host of each URL.
  std::vector<std::string> args;
  std::string header;  ///< A line of the target list.
  std::vector<std::string> environment;
};

std::string hush(const char* before) { return before + std::string{kSecret}; }

const Place kPlaces[] = {
    {"HeaderFlag", "", {hush("-header=Authorization: Bearer "), hush("-header=Cookie: id=")}, "", {}},
    {"HeaderOfATarget",
     "",
     {},
     hush("Authorization: Bearer ") + hush("\nProxy-Authorization: ") + hush("\nCookie: "),
     {}},
    {"Password", hush("u:") + "@", {}, "", {}},
    {"User", hush("") + "@", {}, "", {}},
    {"UserOfNoPassword", hush("") + ":@", {}, "", {}},
    {"ProxyHeader", "", {hush("-proxy-header=Proxy-Authorization: Basic ")}, "", {"HTTPS_PROXY=127.0.0.1:1"}},
    {"ProxyThatIsDown",
     "",
     {},
     "",
     {hush("HTTP_PROXY=http://u:") + "@127.0.0.1:1", hush("HTTPS_PROXY=u:") + "@127.0.0.1:1"}},
    {"SocksProxy",
     "",
     {},
     "",
     {hush("HTTP_PROXY=socks5://u:") + "@127.0.0.1:1", hush("HTTPS_PROXY=socks5://u:") + "@127.0.0.1:1"}},
    {"ProxyThatIsNone",
     "",
     {},
     "",
     {hush("HTTP_PROXY=ftp://u:") + "@127.0.0.1:1", hush("HTTPS_PROXY=http://u:") + "@h:x"}},
};

/// One target for each of kPaths; one where nobody listens, one that expects TLS, and one of either scheme that goes
/// through a proxy, where there is one.
std::string target_list(const Place& place, const TestServer& server, bool json) {
  const std::string port = ":" + std::to_string(server.port());
  std::vector<std::string> urls;
  for (const char* path : kPaths) urls.push_back("http://" + place.credentials + "127.0.0.1" + port + path);
  urls.push_back("http://" + place.credentials + "127.0.0.1:1/");
  urls.push_back("https://" + place.credentials + "127.0.0.1" + port + "/");
  if (!place.environment.empty()) {
    urls.push_back("http://" + place.credentials + "a.test/");
    urls.push_back("https://" + place.credentials + "a.test/");
  }
  std::string list;
  for (const std::string& url : urls) {
    list += json ? R"({"method":"GET","url":")" + url + R"(","header":{"Authorization":[")" + kSecret + "\"]}}\n"
                 : "GET " + url + "\n" + place.header + "\n\n";
  }
  return list;
}

/// The errors of a result file, which may hold the rest of it where docs/security.md says so.
std::string errors_of(const std::string& file) {
  std::string errors;
  for (std::string rest = run_pepe_binary({"encode", "-to=json", file}).out; !rest.empty();) {
    const std::size_t start = rest.find("\"error\":");
    const std::size_t end = rest.find(",\"body\"");
    if (start == std::string::npos || end == std::string::npos) return errors + "no JSON: " + rest;
    errors += rest.substr(start, end - start) + "\n";
    rest.erase(0, rest.find('\n') + 1);
  }
  return errors;
}

class Secrets : public testing::Test {
 protected:
  void attack(const Place& place, bool json) {
    Launch launch;
    launch.args = {"attack",       "-rate=200",    "-duration=60ms",   "-timeout=300ms",
                   "-redirects=3", "-progress=on", "-output=" + file_, json ? "-format=json" : "-format=http"};
    launch.args.insert(launch.args.end(), place.args.begin(), place.args.end());
    launch.environment = place.environment;
    launch.input = target_list(place, server_, json);
    const Ended ended = Process{kPepe, launch}.wait();
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr(" of 12 hits failed"));
    expect_no_secret(ended.out);
    expect_no_secret(ended.err);
  }

  TempDir dir_;
  TestServer server_{answer};
  const std::string file_ = dir_.path("out");
};

TEST_F(Secrets, StandInNoOutputNorReport) {
  for (const Place& place : kPlaces) {
    for (const bool json : {false, true}) {
      // How the list is written says nothing about proxies.
      if (json && !place.environment.empty()) continue;
      SCOPED_TRACE(std::string{place.name} + (json ? ", JSON" : ", http"));
      attack(place, json);
      expect_no_secret(errors_of(file_));
      if (place.credentials.empty()) expect_no_secret(dir_.read("out"));
      for (const char* type : {"text", "json", "hist[0,1ms]", "hdrplot"})
        expect_no_secret(run_pepe_binary({"report", std::string{"-type="} + type, file_}).out);
      for (const char* type : {"compare", "compare-json"})
        expect_no_secret(run_pepe_binary({"report", std::string{"-type="} + type, file_, file_}).out);
      expect_no_secret(run_pepe_binary({"plot", file_}).out);
      for (const char* key : {"target", "url"}) {
        const Ended ended = run_pepe_binary({"report", std::string{"-group-by="} + key, "-fail-if=requests>0", file_});
        EXPECT_EQ(ended.status, 4);
        expect_no_secret(ended.out);
        expect_no_secret(ended.err);
      }
    }
  }
}

TEST_F(Secrets, AreNotRepeatedToWhoGivesThemWrongly) {
  const std::string list = dir_.path("list");
  const auto lists = [&](const std::string& text) {
    dir_.write("list", text);
    return std::vector<std::string>{"attack", "-targets=" + list};
  };
  const std::vector<std::vector<std::string>> cases = {
      {"attack", hush("-header=Authorization ")},
      {"attack", hush("-header=Authorization: Bearer "), "-bogus"},
      {"attack", hush("-header=") + "="},
      {"attack", "-header", hush("Cookie=")},
      {"attack", hush("-proxy-header=Proxy-Authorization Basic ")},
      {"attack", hush("-headers=Authorization: ")},
      {"attack", "http://127.0.0.1:1/", hush("-header=Authorization: ")},
      {"attack", hush("u:") + "@127.0.0.1/"},
      {"attack", hush("ftp://u:") + "@127.0.0.1/"},
      {"attack", hush("http://u:") + "@127.0.0.1:x/"},
      {"attack", hush("http://u:a/") + "@127.0.0.1/"},
      {"attack", hush("http://u:%zz") + "@127.0.0.1/"},
      lists(hush("GET http://h/\nAuthorization Bearer ") + "\n"),
      lists(hush("GET http://h/\nAuthorization=") + "\n"),
      lists(hush("GET http://h/\nA(b): ") + "\n"),
      lists(hush("GET http://h/\nA: \x01") + "\n"),
      lists(hush("GET http://u:") + "@h:x/\n"),
      lists(hush("Cookie:") + "\n"),
  };
  for (const auto& args : cases) {
    SCOPED_TRACE(testing::PrintToString(args));
    const Ended ended = run_pepe_binary(args);
    EXPECT_NE(ended.status, 0);
    expect_no_secret(ended.err);
  }
}

/// What GET answers with on a port of 127.0.0.1.
std::string get(std::uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string text;
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    constexpr std::string_view kRequest = "GET /metrics HTTP/1.0\r\n\r\n";
    ::send(fd, kRequest.data(), kRequest.size(), MSG_NOSIGNAL);
    std::array<char, 4096> buffer{};
    for (ssize_t got = 0; (got = ::recv(fd, buffer.data(), buffer.size(), 0)) > 0;)
      text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  ::close(fd);
  return text;
}

TEST_F(Secrets, StandInNoMetrics) {
  for (const Place& place : {kPlaces[1], kPlaces[2], kPlaces[3], kPlaces[6]}) {
    SCOPED_TRACE(place.name);
    const std::uint16_t port = [] {
      const TestServer free;
      return free.port();
    }();
    Launch launch;
    launch.args = {"attack",       "-rate=200",         "-timeout=100ms",
                   "-redirects=3", "-output=/dev/null", "-prometheus-addr=127.0.0.1:" + std::to_string(port)};
    launch.environment = place.environment;
    launch.input = target_list(place, server_, false);
    Process process{kPepe, launch};
    std::string page;
    // Each kind of failure of the list has been counted: the timeout comes last.
    for (int i = 0; i < 1000 && page.find("Client.Timeout") == std::string::npos; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds{10});
      page = get(port);
    }
    process.send_signal(SIGTERM);
    EXPECT_EQ(process.wait().status, 0);
    EXPECT_THAT(page, HasSubstr("Client.Timeout"));
    EXPECT_THAT(page, HasSubstr("request_fail_count{"));
    expect_no_secret(page);
  }
}

/// The values of the headers of `request` that hold the secret.
std::vector<std::string> secret_headers(const TestRequest& request) {
  std::vector<std::string> found;
  for (const std::string& header : request.headers)
    if (header.find(kSecret) != std::string::npos) found.push_back(header);
  return found;
}

TEST_F(Secrets, StayWithTheFirstHost) {
  std::atomic<std::uint16_t> first_port{0};  // no thread of ours tells the other that it is set
  const TestServer other{[&](const TestRequest&) {
    return TestAnswer{.status = 302, .headers = {"Location: http://127.0.0.1:" + std::to_string(first_port) + "/back"}};
  }};
  const TestServer first{[&](const TestRequest& request) {
    if (request.target == "/back") return TestAnswer{};
    const std::string to = request.target == "/" ? "/near" : "http://localhost:" + std::to_string(other.port()) + "/";
    return TestAnswer{.status = 307, .headers = {"Location: " + to}};
  }};
  first_port = first.port();
  const Ended ended =
      run_pepe_binary({"attack", "-rate=1", "-duration=1s", "-output=/dev/null", hush("-header=Authorization: "),
                       hush("-header=Cookie: "), hush("-header=Proxy-Authorization: "), first.url("/")});
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.err, IsEmpty());
  ASSERT_EQ(first.requests().size(), 3U);
  ASSERT_EQ(other.requests().size(), 1U);
  EXPECT_EQ(secret_headers(first.requests()[0]).size(), 3U);
  EXPECT_EQ(secret_headers(first.requests()[1]).size(), 3U) << "a redirect within the host";
  EXPECT_THAT(secret_headers(other.requests()[0]), IsEmpty());
  EXPECT_THAT(secret_headers(first.requests()[2]), IsEmpty()) << "a redirect back";
}

TEST_F(Secrets, ForTheServerDoNotReachTheProxyNorTheOtherWayRound) {
  const TlsServer server{{.chain = {make_identity({.alt_names = "DNS:a.test"})}}};
  const ConnectProxy proxy;
  Launch launch;
  launch.args = {"attack",
                 "-rate=1",
                 "-duration=1s",
                 "-insecure",
                 "-output=/dev/null",
                 "-header=Authorization: for-the-server",
                 "-proxy-header=X-Key: for-the-proxy",
                 "https://u:p@a.test:" + std::to_string(server.port()) + "/path?query"};
  launch.environment = {"HTTPS_PROXY=http://u:for-the-proxy@127.0.0.1:" + std::to_string(proxy.port())};
  EXPECT_EQ((Process{kPepe, launch}.wait().status), 0);
  ASSERT_EQ(proxy.requests().size(), 1U);
  EXPECT_THAT(proxy.requests()[0], HasSubstr("for-the-proxy"));
  EXPECT_THAT(proxy.requests()[0], HasSubstr("Proxy-Authorization: Basic dTpmb3ItdGhlLXByb3h5\r\n"));
  for (const char* part : {"for-the-server", "path", "query", "\r\nAuthorization"})
    EXPECT_THAT(proxy.requests()[0], Not(HasSubstr(part)));
  ASSERT_EQ(server.requests().size(), 1U);
  EXPECT_THAT(server.requests()[0], HasSubstr("Authorization: for-the-server\r\n"));
  EXPECT_THAT(server.requests()[0], Not(HasSubstr("for-the-proxy")));
  EXPECT_THAT(server.requests()[0], Not(HasSubstr("Proxy-Authorization")));
}

}  // namespace
}  // namespace pepe
