#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <csignal>
#include <memory>
#include <string>
#include <string_view>

#include "engine/tls_context.h"
#include "unit/engine/tls_peer.h"

namespace pepe {

inline const Identity& authority() {
  static const Identity made = make_identity({.common_name = "authority", .authority = true});
  return made;
}

/// The two ends of a connection.
struct Ends {
  int client{-1};
  int server{-1};
  Ends() {
    int fds[2] = {-1, -1};
    socketpair(AF_UNIX, SOCK_STREAM, 0, fds);
    client = fds[0];
    server = fds[1];
    fcntl(client, F_SETFL, O_NONBLOCK);
  }
  ~Ends() { close(client); }
};

/// A client that waits where a worker would go on with something else.
class TlsClient {
 public:
  TlsClient(const TlsContext& context, int fd, const std::string& host, TlsTickets* tickets = nullptr)
      : fd_{fd}, session_{context.make_session(fd, host, host, tickets)} {}

  TlsSession::Status handshake() {
    return settle([this] { return session_->handshake(); });
  }
  /// Everything up to the end, or up to `limit` bytes.
  std::string read(std::size_t limit = SIZE_MAX) {
    std::string text;
    char chunk[1000];
    last_ = settle([&] {
      for (;;) {
        const TlsSession::Count got = session_->read(chunk);
        text.append(chunk, got.bytes);
        if (got.status != TlsSession::Status::kOk || text.size() >= limit) return got.status;
      }
    });
    return text;
  }
  TlsSession::Status last() const { return last_; }
  TlsSession::Status write(std::string_view text) {
    return settle([&] {
      while (!text.empty()) {
        const TlsSession::Count sent = session_->write(text);
        if (sent.status != TlsSession::Status::kOk) return sent.status;
        text.remove_prefix(sent.bytes);
      }
      return TlsSession::Status::kOk;
    });
  }
  TlsSession& session() { return *session_; }
  void receive_at_most(std::size_t bytes) { chunk_ = bytes; }

 private:
  template <class Step>
  TlsSession::Status settle(Step step) {
    for (;;) {
      const TlsSession::Status status = step();
      if (status != TlsSession::Status::kWantRead && status != TlsSession::Status::kWantWrite) return status;
      pollfd wait{fd_, static_cast<short>(status == TlsSession::Status::kWantRead ? POLLIN : POLLOUT), 0};
      poll(&wait, 1, 10'000);
      if (status == TlsSession::Status::kWantWrite) continue;
      const ssize_t got = recv(fd_, buffer_, chunk_, 0);
      if (got > 0) session_->feed({buffer_, static_cast<std::size_t>(got)});
      if (got == 0) session_->feed_end();
    }
  }

  int fd_;
  std::unique_ptr<TlsSession> session_;
  TlsSession::Status last_{TlsSession::Status::kOk};
  std::size_t chunk_{sizeof buffer_};
  char buffer_[65536];
};

class TlsSessionTest : public testing::Test {
 protected:
  TlsSessionTest() {
    std::signal(SIGPIPE, SIG_IGN);  // OpenSSL's own socket BIO, on the server's side, raises it.
    roots_ = files_.write("ca.pem", certificate_pem(authority()));
  }

  TlsOptions trusting() const {
    TlsOptions options;
    options.root_cert_files = {roots_};
    return options;
  }
  TlsOptions insecure() const {
    TlsOptions options;
    options.insecure = true;
    return options;
  }
  std::unique_ptr<TlsContext> context(const TlsOptions& options) {
    auto made = TlsContext::make(options);
    EXPECT_TRUE(made) << made.error().text();
    return *std::move(made);
  }
  static Identity server_identity() {
    return make_identity({.alt_names = "DNS:a.test,IP:127.0.0.1", .issuer = &authority()});
  }

  TempFiles files_;
  std::string roots_;
};

inline void end_tls(SSL* ssl) { SSL_shutdown(ssl); }
/// Reads until the client hangs up.
inline std::string drain(SSL* ssl) {
  std::string text;
  char chunk[4096];
  for (int got = 1; got > 0;) {
    got = SSL_read(ssl, chunk, sizeof chunk);
    if (got > 0) text.append(chunk, static_cast<std::size_t>(got));
  }
  return text;
}

}  // namespace pepe
