#include "engine/dialer.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <csignal>
#include <deque>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "engine/dial_plan.h"
#include "engine/transport.h"
#include "support/no_free_descriptor.h"
#include "unit/engine/loopback.h"
#include "unit/engine/tls_peer.h"

namespace pepe {
namespace {

using asio::ip::make_address;
using asio::ip::tcp;
using testing::HasSubstr;
using testing::StartsWith;

class Listener {
 public:
  explicit Listener(const char* address = "127.0.0.1", std::uint16_t port = 0)
      : acceptor_{io_, tcp::endpoint{make_address(address), port}} {}
  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
  tcp::socket accept() { return acceptor_.accept(); }

 private:
  asio::io_context io_;
  tcp::acceptor acceptor_;
};

/// Accepts nothing and has no room in its queue: a connection to it stays silent.
class SilentListener {
 public:
  explicit SilentListener(const char* address) : acceptor_{io_} {
    const tcp::endpoint endpoint{make_address(address), 0};
    acceptor_.open(endpoint.protocol());
    acceptor_.bind(endpoint);
    acceptor_.listen(0);
    for (int i = 0; i < 4; ++i) {
      auto& filler = fillers_.emplace_back(io_);
      filler.async_connect(acceptor_.local_endpoint(), [](error_code) {});
    }
    io_.poll();
  }
  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

 private:
  asio::io_context io_;
  tcp::acceptor acceptor_;
  std::deque<tcp::socket> fillers_;
};

Expected<asio::ip::address> race(std::vector<const char*> addresses, std::uint16_t port) {
  asio::io_context io;
  std::vector<asio::ip::address> parsed;
  for (const char* address : addresses) parsed.push_back(make_address(address));
  const auto connect = std::make_shared<TcpConnect>(io, parsed, port, std::nullopt);
  Expected<asio::ip::address> outcome{Error{"not done"}};
  connect->start([&](Expected<TcpConnect::Connected> connected) {
    if (connected) {
      outcome = connected->address;
    } else {
      outcome = connected.error();
    }
  });
  io.run();
  return outcome;
}

TEST(Dialer, ConnectsWithoutDelayAndWithoutBlocking) {
  Listener server;
  DialBench bench{{}};
  const DialOutcome outcome = bench.dial({"http", "127.0.0.1", server.port()});
  ASSERT_TRUE(outcome.ok()) << outcome.error();
  EXPECT_NE(fcntl(outcome.fd(), F_GETFL) & O_NONBLOCK, 0);
  int no_delay = 0;
  socklen_t size = sizeof no_delay;
  getsockopt(outcome.fd(), IPPROTO_TCP, TCP_NODELAY, &no_delay, &size);
  EXPECT_EQ(no_delay, 1);
  EXPECT_EQ(send(outcome.fd(), "x", 1, 0), 1);
  EXPECT_EQ(outcome.dialed->tls, nullptr);
}

struct HostCase {
  const char* name;
  const char* listen;
  const char* host;
};
class DialerHosts : public testing::TestWithParam<HostCase> {};
TEST_P(DialerHosts, Connects) {
  Listener server{GetParam().listen};
  DialBench bench{{}};
  const DialOutcome outcome = bench.dial({"http", GetParam().host, server.port()});
  EXPECT_TRUE(outcome.ok()) << outcome.error();
}
INSTANTIATE_TEST_SUITE_P(All, DialerHosts,
                         testing::Values(HostCase{"V4Literal", "127.0.0.1", "127.0.0.1"},
                                         HostCase{"V6Literal", "::1", "::1"},
                                         HostCase{"EmptyIsThisMachine", "127.0.0.1", ""},
                                         HostCase{"EmptyIsThisMachineOnV6", "::1", ""},
                                         HostCase{"Name", "127.0.0.1", "localhost"}),
                         [](const auto& row) { return row.param.name; });

TEST(Dialer, NamesBothEndsWhenRefused) {
  const DeafPort v4;
  const DeafPort v6{"::1"};
  DialBench bench{{}};
  EXPECT_EQ(bench.dial({"http", "127.0.0.1", v4.port()}).error(),
            "dial tcp 0.0.0.0:0->127.0.0.1:" + std::to_string(v4.port()) + ": connect: connection refused");
  EXPECT_EQ(bench.dial({"http", "::1", v6.port()}).error(),
            "dial tcp 0.0.0.0:0->[::1]:" + std::to_string(v6.port()) + ": connect: connection refused");
}

TEST(Dialer, ConnectsFromTheLocalAddress) {
  Listener server;
  DialBench bench{with(&AttackOptions::local_address, "127.0.0.3")};
  const DialOutcome outcome = bench.dial({"http", "127.0.0.1", server.port()});
  ASSERT_TRUE(outcome.ok()) << outcome.error();
  EXPECT_EQ(server.accept().remote_endpoint().address(), make_address("127.0.0.3"));
}

TEST(Dialer, NamesTheLocalAddressThatIsNotOurs) {
  const DeafPort deaf;
  DialBench bench{with(&AttackOptions::local_address, "192.0.2.1")};
  EXPECT_EQ(
      bench.dial({"http", "127.0.0.1", deaf.port()}).error(),
      "dial tcp 192.0.2.1:0->127.0.0.1:" + std::to_string(deaf.port()) + ": bind: cannot assign requested address");
}

TEST(Dialer, SaysThatLocalAddressIsOfTheOtherFamily) {
  const DeafPort deaf{"::1"};
  DialBench bench{with(&AttackOptions::local_address, "127.0.0.1")};
  EXPECT_THAT(bench.dial({"http", "::1", deaf.port()}).error(), HasSubstr("no suitable address found"));
}

TEST(Dialer, RefusesALocalAddressThatIsNoAddress) {
  EXPECT_FALSE(make_dial_plan(with(&AttackOptions::local_address, "999.1.1.1")).has_value());
}

class DialerUnix : public testing::Test {
 protected:
  DialerUnix() { std::filesystem::remove(path_); }
  ~DialerUnix() override { std::filesystem::remove(path_); }
  const std::string path_ = testing::TempDir() + "pepe_dialer_" + std::to_string(getpid()) + ".sock";
};

TEST_F(DialerUnix, ConnectsWithoutLookingTheNameUp) {
  asio::io_context io;
  asio::local::stream_protocol::acceptor acceptor{io, asio::local::stream_protocol::endpoint{path_}};
  DialBench bench{with(&AttackOptions::unix_socket, path_)};
  const DialOutcome outcome = bench.dial({"http", "no-such-name.invalid", 80});
  EXPECT_TRUE(outcome.ok()) << outcome.error();
}

TEST_F(DialerUnix, ConnectsToAbstractNames) {
  asio::io_context io;
  const std::string name = "pepe_dialer_" + std::to_string(getpid());
  asio::local::stream_protocol::acceptor acceptor{io, asio::local::stream_protocol::endpoint{'\0' + name}};
  DialBench bench{with(&AttackOptions::unix_socket, "@" + name)};
  const DialOutcome outcome = bench.dial({"http", "h", 80});
  EXPECT_TRUE(outcome.ok()) << outcome.error();
}

TEST_F(DialerUnix, NamesTheSocketThatIsMissing) {
  DialBench bench{with(&AttackOptions::unix_socket, path_)};
  EXPECT_EQ(bench.dial({"http", "h", 80}).error(), "dial unix " + path_ + ": connect: no such file or directory");
}

TEST_F(DialerUnix, RefusesAPathThatDoesNotFit) {
  DialBench bench{with(&AttackOptions::unix_socket, std::string(200, 'x'))};
  EXPECT_THAT(bench.dial({"http", "h", 80}).error(), HasSubstr("connect: invalid argument"));
}

TEST_F(DialerUnix, ReportsAFullQueueInsteadOfAConnection) {
  asio::io_context io;
  asio::local::stream_protocol::acceptor acceptor{io};
  acceptor.open();
  acceptor.bind(asio::local::stream_protocol::endpoint{path_});
  acceptor.listen(0);
  DialBench bench{with(&AttackOptions::unix_socket, path_)};
  std::vector<DialOutcome> outcomes;
  for (int i = 0; i < 3; ++i) outcomes.push_back(bench.dial({"http", "h", 80}));
  EXPECT_THAT(outcomes.back().error(), HasSubstr("connect: resource temporarily unavailable"));
}

TEST(Dialer, ConnectToMapsTheHostAndPort) {
  Listener server;
  DialBench bench{
      with(&AttackOptions::connect_to, {{"made-up.invalid:80", {"127.0.0.1:" + std::to_string(server.port())}}})};
  EXPECT_TRUE(bench.dial({"http", "made-up.invalid", 80}).ok());
}

TEST(Dialer, ConnectToTakesCapitalLettersOfAHostForSmallOnes) {
  Listener server;
  DialBench bench{
      with(&AttackOptions::connect_to, {{"Made-Up.invalid:80", {"127.0.0.1:" + std::to_string(server.port())}}})};
  EXPECT_TRUE(bench.dial({"http", "made-up.INVALID", 80}).ok());
}

TEST(Dialer, ConnectToMapsOnlyThatPort) {
  Listener server;
  const DeafPort deaf;
  DialBench bench{with(&AttackOptions::connect_to, {{"127.0.0.1:1", {"127.0.0.1:" + std::to_string(server.port())}}})};
  EXPECT_THAT(bench.dial({"http", "127.0.0.1", deaf.port()}).error(), HasSubstr("refused"));
}

TEST(Dialer, ConnectToAcceptsBrackets) {
  Listener server{"::1"};
  DialBench bench{with(&AttackOptions::connect_to, {{"[::2]:80", {"[::1]:" + std::to_string(server.port())}}})};
  EXPECT_TRUE(bench.dial({"http", "::2", 80}).ok());
}

TEST(Dialer, ConnectToTakesTurnsFromTheSecondOn) {
  Listener a{"127.0.0.1"};
  Listener b{"127.0.0.2", a.port()};
  const std::string port = std::to_string(a.port());
  DialBench bench{with(&AttackOptions::connect_to, {{"h:80", {"127.0.0.1:" + port}}, {"h:80", {"127.0.0.2:" + port}}})};
  EXPECT_EQ(bench.plan().routes({"http", "h", 80}), 2U);
  EXPECT_EQ(bench.plan().routes({"http", "h", 81}), 1U);
  for (const char* expected : {"127.0.0.2", "127.0.0.1", "127.0.0.2"}) {
    const DialOutcome outcome = bench.dial({"http", "h", 80});
    ASSERT_TRUE(outcome.ok()) << outcome.error();
    EXPECT_EQ(outcome.dialed->peer.address, make_address(expected));
  }
  for (const std::uint32_t route : {1U, 1U, 2U}) {
    const DialOutcome outcome = bench.dial({"http", "h", 80, route});
    ASSERT_TRUE(outcome.ok()) << outcome.error();
    EXPECT_EQ(outcome.dialed->peer.address, make_address(route == 1 ? "127.0.0.1" : "127.0.0.2"));
  }
}

TEST(Dialer, ConnectToRefusesAPortThatIsNone) {
  DialBench bench{with(&AttackOptions::connect_to, {{"h:80", {"127.0.0.1:99999"}}})};
  EXPECT_EQ(bench.dial({"http", "h", 80}).error(), "dial tcp: address 99999: invalid port");
}

TEST(Dialer, NamesTheHostThatIsUnknown) {
  DialBench bench{{}};
  const std::string error = bench.dial({"http", std::string{"a\0b", 3}, 80}).error();
  EXPECT_THAT(error, StartsWith("lookup a"));
  EXPECT_THAT(error, testing::EndsWith(": no such host"));
}

TEST(Dialer, CancelledDialNeverEndsAndLeavesNoDescriptor) {
  SilentListener silent{"127.0.0.1"};
  Listener server;
  DialBench bench{{}};
  EXPECT_TRUE(bench.dial({"http", "127.0.0.1", server.port()}).ok());
  const std::ptrdiff_t before = open_descriptors();
  bool ended = false;
  const auto note = [&](Expected<Dialed>) { ended = true; };
  const Dialer::Id not_started = bench.dialer().dial({"http", "127.0.0.1", silent.port()}, note);
  bench.dialer().cancel(not_started);
  const Dialer::Id started = bench.dialer().dial({"http", "127.0.0.1", silent.port()}, note);
  bench.io().restart();
  bench.io().poll();
  EXPECT_EQ(bench.dialer().phase(started), "connecting");
  bench.dialer().cancel(started);
  EXPECT_EQ(bench.dialer().phase(started), "");
  bench.io().restart();
  bench.io().run();
  EXPECT_FALSE(ended);
  EXPECT_EQ(open_descriptors(), before);
}

TEST(Dialer, DoneMayCancelOtherDials) {
  Listener server;
  DialBench bench{{}};
  const Origin origin{"http", "127.0.0.1", server.port()};
  Dialer::Id second = 0;
  int ended = 0;
  const auto note = [&](Expected<Dialed> dialed) {
    ++ended;
    bench.dialer().cancel(second);
    if (dialed) close(dialed->fd);
  };
  bench.dialer().dial(origin, note);
  second = bench.dialer().dial(origin, note);
  bench.io().run();
  EXPECT_EQ(ended, 1);
}

TEST(Dialer, DestroyedWithDialsUnderWayLeavesNoDescriptor) {
  SilentListener silent{"127.0.0.1"};
  const std::ptrdiff_t before = open_descriptors();
  {
    DialBench bench{{}};
    for (int i = 0; i < 8; ++i) bench.dialer().dial({"http", "127.0.0.1", silent.port()}, [](Expected<Dialed>) {});
    bench.io().poll();
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST(Dialer, SaysWhenDescriptorsRunOut) {
  const DeafPort deaf;
  const Origin origin{"http", "127.0.0.1", deaf.port()};
  DialBench bench{{}};
  bench.dial(origin);  // the loop opens its own descriptors when it is first used
  const DialOutcome outcome = [&] {
    const NoFreeDescriptor none;
    return bench.dial(origin);
  }();
  EXPECT_EQ(outcome.error(),
            "dial tcp 0.0.0.0:0->127.0.0.1:" + std::to_string(deaf.port()) + ": socket: too many open files");
}

/// A TLS server on loopback that accepts `connections` of them, behind an optional proxy's answer.
class DialerTls : public testing::Test {
 protected:
  DialerTls() {
    std::signal(SIGPIPE, SIG_IGN);  // OpenSSL's own socket BIO, on the server's side, raises it.
    options_.root_cert_files = {files_.write("ca.pem", certificate_pem(authority_))};
    server_ = make_server_context(identity_);
  }
  std::thread serve(int connections, std::function<void(int fd)> before = {}) {
    return std::thread{[this, connections, before] {
      for (int i = 0; i < connections; ++i) {
        tcp::socket socket = listener_.accept();
        const int fd = socket.native_handle();
        if (before) before(fd);
        const OpenSslPtr<SSL> ssl{SSL_new(server_.get())};
        SSL_set_fd(ssl.get(), fd);
        SSL_accept(ssl.get());
        SSL_write(ssl.get(), "x", 1);
        char byte = 0;
        SSL_read(ssl.get(), &byte, 1);
        ERR_clear_error();
      }
    }};
  }

  TempFiles files_;
  const Identity authority_ = make_identity({.common_name = "authority", .authority = true});
  const Identity identity_ = make_identity({.alt_names = "DNS:a.test,IP:127.0.0.1", .issuer = &authority_});
  std::shared_ptr<SSL_CTX> server_;
  Listener listener_;
  TlsOptions options_;
};

TEST_F(DialerTls, HandsOverAnEncryptedConnection) {
  std::thread server = serve(1);
  {
    DialBench bench{with(&AttackOptions::tls, options_)};
    const DialOutcome outcome = bench.dial({"https", "127.0.0.1", listener_.port()});
    ASSERT_TRUE(outcome.ok()) << outcome.error();
    ASSERT_NE(outcome.dialed->tls, nullptr);
    EXPECT_EQ(outcome.dialed->tls->write("x").bytes, 1U);
  }
  server.join();
}

TEST_F(DialerTls, ChecksTheNameOfTheUrlNotOfTheDestination) {
  std::thread server = serve(2);
  AttackOptions options = with(&AttackOptions::tls, options_);
  const std::string here = "127.0.0.1:" + std::to_string(listener_.port());
  options.connect_to = {{"a.test:443", {here}}, {"b.test:443", {here}}};
  {
    DialBench bench{options};
    const DialOutcome right = bench.dial({"https", "a.test", 443});
    EXPECT_TRUE(right.ok()) << right.error();
  }
  DialBench bench{options};
  EXPECT_EQ(bench.dial({"https", "b.test", 443}).error(),
            "tls: failed to verify certificate: x509: certificate is valid for a.test, not b.test");
  server.join();
}

TEST_F(DialerTls, GoesThroughAConnectTunnel) {
  std::string asked;
  std::thread server = serve(1, [&asked](int fd) {
    char buffer[1000];
    asked.assign(buffer, static_cast<std::size_t>(std::max<ssize_t>(recv(fd, buffer, sizeof buffer, 0), 0)));
    const std::string_view answer = "HTTP/1.1 200 OK\r\n\r\n";
    EXPECT_EQ(send(fd, answer.data(), answer.size(), 0), static_cast<ssize_t>(answer.size()));
  });
  {
    asio::io_context io;
    ProxyRules::Environment proxies;
    proxies.https = parse_proxy("HTTPS_PROXY", "127.0.0.1:" + std::to_string(listener_.port()));
    const auto plan = RoutePlan::make(with(&AttackOptions::tls, options_), std::move(proxies));
    const auto dialer = make_dialer(io, **plan);
    std::string error = "none";
    dialer->dial({"https", "a.test", 443}, [&](Expected<Dialed> dialed) {
      if (!dialed) error = dialed.error().text();
      const DialOutcome owned{std::move(dialed)};
    });
    io.run();
    EXPECT_EQ(error, "none");
  }
  server.join();
  EXPECT_THAT(asked, StartsWith("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n"));
}

TEST_F(DialerTls, TalksTlsToAnHttpsProxy) {
  std::thread server = serve(1);
  {
    asio::io_context io;
    ProxyRules::Environment proxies;
    proxies.http = parse_proxy("HTTP_PROXY", "https://127.0.0.1:" + std::to_string(listener_.port()));
    proxies.https = proxies.http;
    const auto plan = RoutePlan::make(with(&AttackOptions::tls, options_), std::move(proxies));
    const auto dialer = make_dialer(io, **plan);
    bool encrypted = false;
    dialer->dial({"http", "a.test", 80}, [&](Expected<Dialed> dialed) {
      encrypted = dialed && dialed->tls;
      const DialOutcome owned{std::move(dialed)};
    });
    io.run();
    EXPECT_TRUE(encrypted);
  }
  server.join();
}

TEST_F(DialerTls, BrokenAndCancelledHandshakesLeaveNoDescriptor) {
  DialBench bench{with(&AttackOptions::tls, options_)};
  Listener closing;
  Listener mute;
  std::thread server{[&closing] {
    for (int i = 0; i < 11; ++i) closing.accept();
  }};
  EXPECT_FALSE(bench.dial({"https", "127.0.0.1", closing.port()}).ok());  // The loop makes its own descriptors.
  const std::ptrdiff_t before = open_descriptors();
  for (int i = 0; i < 10; ++i) {
    const std::string error = bench.dial({"https", "127.0.0.1", closing.port()}).error();
    EXPECT_TRUE(error == "EOF" || error.ends_with("connection reset by peer")) << error;
  }
  server.join();
  EXPECT_EQ(open_descriptors(), before);
  for (int i = 0; i < 10; ++i) {
    const Dialer::Id id = bench.dialer().dial({"https", "127.0.0.1", mute.port()}, [](Expected<Dialed>) {});
    while (bench.dialer().phase(id) != "TLS handshake") {
      bench.io().restart();
      bench.io().run_one();
    }
    bench.dialer().cancel(id);
  }
  bench.io().restart();
  bench.io().run();
  EXPECT_EQ(open_descriptors(), before);
}

TEST(TcpConnect, TriesTheNextAddressAtOnceWhenRefused) {
  Listener server{"127.0.0.2"};
  EXPECT_EQ(*race({"127.0.0.1", "127.0.0.2"}, server.port()), make_address("127.0.0.2"));
}

TEST(TcpConnect, TriesTheNextAddressWhenOneIsSilent) {
  SilentListener silent{"127.0.0.1"};
  Listener server{"127.0.0.2", silent.port()};
  EXPECT_EQ(*race({"127.0.0.1", "127.0.0.2"}, server.port()), make_address("127.0.0.2"));
}

TEST(TcpConnect, ReportsTheFirstAddressWhenAllFail) {
  const DeafPort deaf;
  EXPECT_THAT(race({"127.0.0.1", "::1"}, deaf.port()).error().text(), HasSubstr("->127.0.0.1:"));
}

TEST(TcpConnect, TakesAConnectionToItselfForRefused) {
  // Only the chosen local port can meet the remote one, so the port is fixed by binding to it.
  asio::io_context io;
  Socket socket{io};
  socket.open(tcp::v4());
  socket.bind(tcp::endpoint{make_address("127.0.0.1"), 0});
  Listener server;
  const tcp::endpoint elsewhere{make_address("127.0.0.1"), server.port()};
  EXPECT_FALSE(is_connected_to_itself(socket, elsewhere));
  const auto itself = socket.local_endpoint();
  socket.connect(itself);
  EXPECT_TRUE(is_connected_to_itself(socket, itself));
}

}  // namespace
}  // namespace pepe
