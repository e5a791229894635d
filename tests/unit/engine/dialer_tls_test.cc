#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <csignal>
#include <functional>
#include <string>
#include <thread>

#include "engine/dial_plan.h"
#include "unit/engine/loopback.h"
#include "unit/engine/tls_peer.h"

namespace pepe {
namespace {

using asio::ip::tcp;
using testing::StartsWith;

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

}  // namespace
}  // namespace pepe
