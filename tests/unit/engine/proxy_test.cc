#include "engine/proxy.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "engine/dial_plan.h"
#include "unit/engine/loopback.h"

namespace pepe {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct ProxyCase {
  const char* name;
  const char* value;
  const char* display;  ///< nullptr: refused.
  const char* authorization;
};
void PrintTo(const ProxyCase& row, std::ostream* out) { *out << row.name; }
class ProxyValues : public testing::TestWithParam<ProxyCase> {};
TEST_P(ProxyValues, AreRead) {
  const Expected<Proxy> proxy = parse_proxy("HTTP_PROXY", GetParam().value);
  if (GetParam().display == nullptr) {
    ASSERT_FALSE(proxy);
    EXPECT_THAT(proxy.error().text(), HasSubstr("HTTP_PROXY names no proxy"));
    EXPECT_THAT(proxy.error().text(), testing::Not(HasSubstr("secret")));
    return;
  }
  ASSERT_TRUE(proxy) << proxy.error().text();
  EXPECT_EQ(proxy->display(), GetParam().display);
  EXPECT_EQ(proxy->authorization(), GetParam().authorization);
}
INSTANTIATE_TEST_SUITE_P(
    All, ProxyValues,
    testing::Values(ProxyCase{"Http", "http://p.test:3128", "http://p.test:3128", ""},
                    ProxyCase{"HttpDefaultPort", "http://p.test", "http://p.test:80", ""},
                    ProxyCase{"NoScheme", "127.0.0.1:3128", "http://127.0.0.1:3128", ""},
                    ProxyCase{"NameWithoutScheme", "localhost:3128", "http://localhost:3128", ""},
                    ProxyCase{"V6", "http://[::1]:3128/", "http://[::1]:3128", ""},
                    ProxyCase{"Credentials", "http://u:p@p.test:1", "http://p.test:1", "Basic dTpw"},
                    ProxyCase{"EscapedCredentials", "http://u:%70@p.test:1", "http://p.test:1", "Basic dTpw"},
                    ProxyCase{"UserOnly", "u@p.test:1", "http://p.test:1", "Basic dTo="},
                    ProxyCase{"Https", "https://p.test", "https://p.test:443", ""},
                    ProxyCase{"Socks", "socks5://p.test", "socks5://p.test:1080", ""},
                    ProxyCase{"SocksWithPort", "socks5h://p.test:99", "socks5://p.test:99", ""},
                    ProxyCase{"UnknownScheme", "ftp://u:secret@p.test", nullptr, ""},
                    ProxyCase{"BadPort", "http://u:secret@p.test:x", nullptr, ""},
                    ProxyCase{"NoHost", "http://", nullptr, ""}),
    [](const auto& row) { return row.param.name; });

struct ExceptionCase {
  const char* name;
  const char* no_proxy;
  const char* host;
  std::uint16_t port;
  bool direct;
};
void PrintTo(const ExceptionCase& row, std::ostream* out) { *out << row.name; }
class NoProxy : public testing::TestWithParam<ExceptionCase> {};
TEST_P(NoProxy, Decides) {
  EXPECT_EQ(ProxyExceptions{GetParam().no_proxy}.contains(GetParam().host, GetParam().port), GetParam().direct);
}
INSTANTIATE_TEST_SUITE_P(All, NoProxy,
                         testing::Values(ExceptionCase{"Nothing", "", "a.test", 80, false},
                                         ExceptionCase{"LocalhostIsNeverProxied", "", "LocalHost", 80, true},
                                         ExceptionCase{"LoopbackIsNeverProxied", "", "127.9.9.9", 80, true},
                                         ExceptionCase{"Loopback6IsNeverProxied", "", "::1", 80, true},
                                         ExceptionCase{"ThisMachineIsNeverProxied", "", "", 80, true},
                                         ExceptionCase{"Star", "x.test, *", "a.test", 80, true},
                                         ExceptionCase{"Name", " a.test ,b.test", "A.TEST", 80, true},
                                         ExceptionCase{"NameCoversSubdomains", "a.test", "x.a.test", 80, true},
                                         ExceptionCase{"NameIsNoSuffix", "a.test", "xa.test", 80, false},
                                         ExceptionCase{"SuffixCoversSubdomains", "other.test,.test", "px.test", 80,
                                                       true},
                                         ExceptionCase{"SuffixIsNotItself", ".a.test", "a.test", 80, false},
                                         ExceptionCase{"StarSuffix", "*.a.test", "x.a.test", 80, true},
                                         ExceptionCase{"StarSuffixIsNotItself", "*.a.test", "a.test", 80, false},
                                         ExceptionCase{"Port", "a.test:8080", "a.test", 8080, true},
                                         ExceptionCase{"OtherPort", "a.test:8080", "a.test", 80, false},
                                         ExceptionCase{"BadPortMatchesNothing", "a.test:x", "a.test", 80, false},
                                         ExceptionCase{"Address", "192.0.2.1", "192.0.2.1", 80, true},
                                         ExceptionCase{"OtherAddress", "192.0.2.1", "192.0.2.2", 80, false},
                                         ExceptionCase{"AddressWithPort", "192.0.2.1:81", "192.0.2.1", 80, false},
                                         ExceptionCase{"V6", "2001:db8::1", "2001:db8:0::1", 80, true},
                                         ExceptionCase{"V6WithPort", "[2001:db8::1]:81", "2001:db8::1", 81, true},
                                         ExceptionCase{"V6WithOtherPort", "[2001:db8::1]:81", "2001:db8::1", 80, false},
                                         ExceptionCase{"Block", "192.0.2.0/24", "192.0.2.99", 80, true},
                                         ExceptionCase{"OutsideBlock", "192.0.2.0/25", "192.0.2.128", 80, false},
                                         ExceptionCase{"Block6", "2001:db8::/32", "2001:db8:1::1", 80, true},
                                         ExceptionCase{"BlockOfTheOtherFamily", "0.0.0.0/0", "2001:db8::1", 80, false},
                                         ExceptionCase{"BlockIsNoName", "192.0.2.0/24", "a.test", 80, false}),
                         [](const auto& row) { return row.param.name; });

ProxyRules::Environment environment(const char* http, const char* https, const char* no_proxy = "") {
  ProxyRules::Environment made;
  if (http != nullptr) made.http = parse_proxy("HTTP_PROXY", http);
  if (https != nullptr) made.https = parse_proxy("HTTPS_PROXY", https);
  made.no_proxy = no_proxy;
  return made;
}

TEST(ProxyRules, ChooseByScheme) {
  const ProxyRules rules{environment("h.test:1", "s.test:2", "direct.test")};
  EXPECT_EQ((*rules.find({"http", "a.test", 80}))->host, "h.test");
  EXPECT_EQ((*rules.find({"https", "a.test", 443}))->host, "s.test");
  EXPECT_EQ(*rules.find({"http", "direct.test", 80}), nullptr);
  EXPECT_EQ(*ProxyRules{environment(nullptr, "s.test:2")}.find({"http", "a.test", 80}), nullptr);
}

TEST(ProxyRules, BadValueHarmsOnlyWhatItIsFor) {
  const ProxyRules rules{environment("ftp://x", nullptr)};
  EXPECT_FALSE(rules.find({"http", "a.test", 80}));
  EXPECT_TRUE(rules.find({"http", "127.0.0.1", 80}));
  EXPECT_TRUE(rules.find({"https", "a.test", 443}));
}

TEST(ProxyRules, ReadTheEnvironment) {
  for (const char* name : {"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "REQUEST_METHOD"}) unsetenv(name);
  setenv("http_proxy", "lower.test:1", 1);
  setenv("no_proxy", "direct.test", 1);
  EXPECT_EQ((*ProxyRules{ProxyRules::read_environment()}.find({"http", "a.test", 80}))->variable, "http_proxy");
  EXPECT_EQ(*ProxyRules{ProxyRules::read_environment()}.find({"http", "direct.test", 80}), nullptr);
  setenv("HTTP_PROXY", "upper.test:1", 1);
  EXPECT_EQ((*ProxyRules{ProxyRules::read_environment()}.find({"http", "a.test", 80}))->host, "upper.test");
  setenv("REQUEST_METHOD", "GET", 1);
  EXPECT_EQ(*ProxyRules{ProxyRules::read_environment()}.find({"http", "a.test", 80}), nullptr);
  for (const char* name : {"HTTP_PROXY", "http_proxy", "no_proxy", "REQUEST_METHOD"}) unsetenv(name);
}

std::unique_ptr<RoutePlan> plan(const AttackOptions& options, ProxyRules::Environment proxies) {
  auto made = RoutePlan::make(options, std::move(proxies));
  EXPECT_TRUE(made);
  return *std::move(made);
}

TEST(RoutePlan, AsksHttpProxiesInAbsoluteForm) {
  const auto used = plan({}, environment("u:p@h.test:1", "s.test:2"));
  std::string authorization;
  EXPECT_TRUE(used->absolute_form({"http", "a.test", 80}, &authorization));
  EXPECT_EQ(authorization, "Basic dTpw");
  EXPECT_FALSE(used->absolute_form({"https", "a.test", 443}, &authorization));
  EXPECT_FALSE(used->absolute_form({"http", "127.0.0.1", 80}, &authorization));
  EXPECT_EQ(authorization, "");
  EXPECT_FALSE(
      plan({}, environment("socks5://h.test", nullptr))->absolute_form({"http", "a.test", 80}, &authorization));
}

TEST(RoutePlan, SaysThatAProxyIsUsed) {
  const auto used = plan({}, environment("u:secret@h.test:1", nullptr));
  EXPECT_EQ(used->notice({"http", "a.test", 80}), "requests go through the proxy http://h.test:1 (HTTP_PROXY)");
  EXPECT_EQ(used->notice({"http", "localhost", 80}), "");
}

TEST(RoutePlan, NeverSendsAUnixSocketThroughAProxy) {
  const auto used = plan(with(&AttackOptions::unix_socket, "s.sock"), environment("h.test:1", nullptr));
  std::string authorization;
  EXPECT_FALSE(used->absolute_form({"http", "a.test", 80}, &authorization));
  EXPECT_EQ(used->notice({"http", "a.test", 80}), "");
}

TEST(RoutePlan, MapsTheProxyNotTheHostBehindIt) {
  const auto used =
      plan(with(&AttackOptions::connect_to, {{"a.test:80", {"x.test:1"}}, {"h.test:1", {"y.test:2", "z.test:3"}}}),
           environment("h.test:1", nullptr));
  const Origin origin{"http", "a.test", 80};
  EXPECT_EQ(used->routes(origin), 2U);
  EXPECT_EQ(used->route(origin)->to, (HostPort{"z.test", 3}));
  EXPECT_EQ(used->route(origin)->to, (HostPort{"y.test", 2}));
}

TEST(Dialer, NamesTheProxyThatIsDown) {
  const DeafPort deaf;
  const std::string port = std::to_string(deaf.port());
  for (const auto& [proxy, expected] :
       {std::pair<std::string, std::string>{"127.0.0.1:" + port, "proxyconnect tcp: dial tcp 0.0.0.0:0->127.0.0.1:"},
        {"socks5://127.0.0.1:" + port, "socks connect tcp 127.0.0.1:" + port + "->a.test:80: dial tcp 0.0.0.0:0->"}}) {
    asio::io_context io;
    const auto used = plan({}, environment(proxy.c_str(), nullptr));
    const auto dialer = make_dialer(io, *used);
    std::string error;
    dialer->dial({"http", "a.test", 80}, [&](Expected<Dialed> dialed) { error = dialed.error().text(); });
    io.run();
    EXPECT_THAT(error, StartsWith(expected));
    EXPECT_THAT(error, testing::EndsWith("connect: connection refused"));
  }
}

/// A tunnel's step at one end of a socket pair, the proxy's words at the other.
class TunnelTest : public testing::Test {
 protected:
  TunnelTest() {
    int fds[2] = {-1, -1};
    socketpair(AF_UNIX, SOCK_STREAM, 0, fds);
    client_ = fds[0];
    proxy_ = fds[1];
    fcntl(client_, F_SETFL, O_NONBLOCK);
    fcntl(proxy_, F_SETFL, O_NONBLOCK);
  }
  ~TunnelTest() override {
    close(client_);
    hang_up();
  }
  void open(const char* proxy_value, const std::string& host, std::uint16_t port,
            std::vector<HeaderField> headers = {}) {
    step_ = make_tunnel(*parse_proxy("X", proxy_value), host, port, {"pepe/1", std::move(headers)});
  }
  SocketStep::Next advance() { return step_->advance(client_); }
  std::string heard() {
    char buffer[65536];
    const ssize_t got = recv(proxy_, buffer, sizeof buffer, 0);
    return got < 0 ? "" : std::string{buffer, static_cast<std::size_t>(got)};
  }
  void answer(std::string_view text) {
    EXPECT_EQ(send(proxy_, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  }
  std::string rest() {
    char buffer[100];
    const ssize_t got = recv(client_, buffer, sizeof buffer, 0);
    return got < 0 ? "" : std::string{buffer, static_cast<std::size_t>(got)};
  }
  void hang_up() {
    if (proxy_ >= 0) close(std::exchange(proxy_, -1));
  }
  /// Answers byte by byte, to find every place where the step can be interrupted.
  SocketStep::Next drip(std::string_view text) {
    SocketStep::Next next = advance();
    for (std::size_t i = 0; i < text.size() && next == SocketStep::Next::kWhenReadable; ++i) {
      answer(text.substr(i, 1));
      next = advance();
    }
    return next;
  }

  int client_{-1};
  int proxy_{-1};
  std::unique_ptr<SocketStep> step_;
};

using Next = SocketStep::Next;

TEST_F(TunnelTest, ConnectAsksForTheHostAndNothingOfTheRequest) {
  open("u:p@p.test", "a.test", 443, {{"X-Px", "1"}, {"host", "evil"}, {"proxy-authorization", "mine"}});
  EXPECT_EQ(advance(), Next::kWhenReadable);
  EXPECT_EQ(heard(),
            "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\nUser-Agent: pepe/1\r\n"
            "Proxy-Authorization: Basic dTpw\r\nX-Px: 1\r\n\r\n");
}

TEST_F(TunnelTest, ConnectTakesItsUserAgentAndBrackets) {
  open("p.test", "::2", 443, {{"user-agent", "mine"}});
  advance();
  EXPECT_EQ(heard(), "CONNECT [::2]:443 HTTP/1.1\r\nHost: [::2]:443\r\nuser-agent: mine\r\n\r\n");
}

TEST_F(TunnelTest, ConnectLeavesWhatFollowsTheHead) {
  open("p.test", "a.test", 443);
  advance();
  answer("HTTP/1.1 200 Connection established\r\nX: y\r\n\r\nbeyond");
  EXPECT_EQ(advance(), Next::kDone);
  EXPECT_EQ(rest(), "beyond");
}

TEST_F(TunnelTest, ConnectReadsADrippingAnswer) {
  open("p.test", "a.test", 443);
  EXPECT_EQ(drip("HTTP/1.0 200 OK\r\nX: y\r\n\r\n"), Next::kDone);
}

struct AnswerCase {
  const char* name;
  std::string_view answer;
  const char* error;
};
void PrintTo(const AnswerCase& row, std::ostream* out) { *out << row.name; }
class ConnectAnswers : public TunnelTest, public testing::WithParamInterface<AnswerCase> {};
TEST_P(ConnectAnswers, ThatAreNoTunnelFail) {
  open("p.test", "a.test", 443);
  advance();
  answer(GetParam().answer);
  heard();  // What is left unread would turn the end into a reset.
  hang_up();
  EXPECT_EQ(advance(), Next::kFailed);
  EXPECT_EQ(step_->error(), GetParam().error);
}
INSTANTIATE_TEST_SUITE_P(
    All, ConnectAnswers,
    testing::Values(
        AnswerCase{"Forbidden", "HTTP/1.1 403 Forbidden\r\n\r\n",
                   "proxyconnect tcp: the proxy answered CONNECT with 403 Forbidden"},
        AnswerCase{"Credentials", "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n",
                   "proxyconnect tcp: the proxy answered CONNECT with 407 Proxy Authentication Required"},
        AnswerCase{"NoReason", "HTTP/1.1 502\r\n\r\n", "proxyconnect tcp: the proxy answered CONNECT with 502"},
        AnswerCase{"Escapes", "HTTP/1.1 500 \x1b[31m\r\n\r\n",
                   "proxyconnect tcp: the proxy answered CONNECT with 500 \\x1b[31m"},
        AnswerCase{"Noise", "\x01\x02 hello\r\n\r\n", "proxyconnect tcp: malformed HTTP response \"\\x01\\x02 hello\""},
        AnswerCase{"OtherProtocol", "SSH-2.0-x 200 OK\r\n\r\n",
                   "proxyconnect tcp: malformed HTTP response \"SSH-2.0-x 200 OK\""},
        AnswerCase{"LongNumber", "HTTP/1.1 2000 OK\r\n\r\n",
                   "proxyconnect tcp: malformed HTTP response \"HTTP/1.1 2000 OK\""},
        AnswerCase{"Close", "", "proxyconnect tcp: EOF"},
        AnswerCase{"CloseInTheHead", "HTTP/1.1 200 OK\r\n", "proxyconnect tcp: unexpected EOF"}),
    [](const auto& row) { return row.param.name; });

TEST_F(TunnelTest, ConnectLimitsTheAnswer) {
  open("p.test", "a.test", 443);
  advance();
  answer("HTTP/1.1 200 OK\r\n");
  Next next = Next::kWhenReadable;
  for (int i = 0; i < 100 && next == Next::kWhenReadable; ++i) {
    answer(std::string(1000, 'x'));
    next = advance();
  }
  EXPECT_EQ(next, Next::kFailed);
  EXPECT_THAT(step_->error(), HasSubstr("64 KB"));
}

TEST_F(TunnelTest, SocksSendsTheNameToTheProxy) {
  open("socks5://p.test", "a.test", 0x1234);
  EXPECT_EQ(advance(), Next::kWhenReadable);
  EXPECT_EQ(heard(), (std::string{"\x05\x01\x00", 3}));
  answer({"\x05\x00", 2});
  EXPECT_EQ(advance(), Next::kWhenReadable);
  EXPECT_EQ(heard(), (std::string{"\x05\x01\x00\x03\x06"
                                  "a.test\x12\x34",
                                  13}));
  answer(
      {"\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x50"
       "beyond",
       16});
  EXPECT_EQ(advance(), Next::kDone);
  EXPECT_EQ(rest(), "beyond");
}

TEST_F(TunnelTest, SocksLogsInAndSendsAddressesAsSuch) {
  open("socks5://me:word@p.test", "::1", 80);
  advance();
  EXPECT_EQ(heard(), (std::string{"\x05\x02\x00\x02", 4}));
  answer({"\x05\x02", 2});
  advance();
  EXPECT_EQ(heard(), (std::string{"\x01\x02me\x04word", 9}));
  answer({"\x01\x00", 2});
  advance();
  EXPECT_EQ(heard(), std::string({5, 1, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 80}));
}

TEST_F(TunnelTest, SocksReadsADrippingAnswerOfAnyAddressKind) {
  open("socks5://p.test", "192.0.2.1", 80);
  EXPECT_EQ(drip({"\x05\x00\x05\x00\x00\x03\x02xy\x00\x50", 11}), Next::kDone);
}

struct SocksCase {
  const char* name;
  std::string_view answers;
  const char* cause;
};
void PrintTo(const SocksCase& row, std::ostream* out) { *out << row.name; }
class SocksAnswers : public TunnelTest, public testing::WithParamInterface<SocksCase> {};
TEST_P(SocksAnswers, ThatAreNoTunnelFail) {
  open("socks5://u:p@p.test:1", "a.test", 80);
  advance();
  answer(GetParam().answers);
  heard();  // What is left unread would turn the end into a reset.
  hang_up();
  EXPECT_EQ(advance(), Next::kFailed);
  EXPECT_EQ(step_->error(), std::string{"socks connect tcp p.test:1->a.test:80: "} + GetParam().cause);
}
INSTANTIATE_TEST_SUITE_P(
    All, SocksAnswers,
    testing::Values(SocksCase{"OtherVersion", {"\x04\x00", 2}, "the proxy does not speak SOCKS5"},
                    SocksCase{"NoMethod", {"\x05\xff", 2}, "the proxy wants a way of logging in that was not offered"},
                    SocksCase{"Close", {"", 0}, "EOF"}, SocksCase{"HalfAnAnswer", {"\x05", 1}, "unexpected EOF"}),
    [](const auto& row) { return row.param.name; });

TEST_F(TunnelTest, SocksNamesTheCauseOfARefusal) {
  for (const auto& [code, cause] : {std::pair{'\x04', "host unreachable"}, {'\x77', "unknown code 119"}}) {
    open("socks5://p.test:1", "a.test", 80);
    const std::string answers = std::string{"\x05\x00\x05", 3} + code + std::string{"\x00\x01", 2};
    EXPECT_EQ(drip(answers), Next::kFailed);
    EXPECT_EQ(step_->error(), std::string{"socks connect tcp p.test:1->a.test:80: "} + cause);
  }
}

}  // namespace
}  // namespace pepe
