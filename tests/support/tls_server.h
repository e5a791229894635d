#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "support/certificates.h"

namespace pepe {

struct TlsServerOptions {
  std::vector<Identity> chain;                ///< The server's own certificate first.
  bool http2{false};                          ///< Speaks HTTP/2 where the client offers it.
  const Identity* client_authority{nullptr};  ///< Wants a certificate of clients that this one has signed.
};

/// An HTTPS server on 127.0.0.1 for tests: one connection after the other, each request answered with 200 and "ok".
class TlsServer {
 public:
  explicit TlsServer(const TlsServerOptions& options);
  TlsServer(const TlsServer&) = delete;
  TlsServer& operator=(const TlsServer&) = delete;
  ~TlsServer();

  std::uint16_t port() const noexcept { return port_; }
  /// What was asked, and answered: heads of HTTP/1.1, header blocks of HTTP/2.
  std::vector<std::string> requests() const;

 private:
  void run();
  void serve(SSL* ssl);
  void serve_http1(SSL* ssl);
  void serve_http2(SSL* ssl);
  void note(std::string request);

  std::shared_ptr<SSL_CTX> context_;
  int listener_{-1};
  std::uint16_t port_{0};
  std::atomic<int> connection_{-1};
  mutable std::mutex mutex_;
  std::vector<std::string> requests_;
  std::thread thread_;
};

}  // namespace pepe
