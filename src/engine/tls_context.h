#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <unordered_map>

#include "engine/tls_session.h"
#include "pepe/base/expected.h"
#include "pepe/engine/attack.h"

namespace pepe {

struct OpenSslFree {
  void operator()(SSL_CTX* ctx) const noexcept { SSL_CTX_free(ctx); }
  void operator()(SSL* ssl) const noexcept { SSL_free(ssl); }
  void operator()(SSL_SESSION* session) const noexcept { SSL_SESSION_free(session); }
  void operator()(X509* certificate) const noexcept { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const noexcept { EVP_PKEY_free(key); }
  void operator()(BIO* bio) const noexcept { BIO_free(bio); }
};
template <class T>
using OpenSslPtr = std::unique_ptr<T, OpenSslFree>;

/// -session-tickets: the last session of each server that one worker saw. Used on that worker's thread only,
/// since OpenSSL writes to a session when its connection breaks.
class TlsTickets {
 public:
  /// nullptr: none yet.
  SSL_SESSION* find(const std::string& server) const;
  void store(const std::string& server, OpenSslPtr<SSL_SESSION> session);

 private:
  std::unordered_map<std::string, OpenSslPtr<SSL_SESSION>> sessions_;
};

/// What all TLS connections of an attack have in common: certificates, keys, versions. Immutable, so workers
/// share it.
class TlsContext {
 public:
  /// Error: `open F: no such file or directory`, `bad certificate`, a key that does not belong to its
  /// certificate.
  static Expected<std::unique_ptr<TlsContext>> make(const TlsOptions& options);

  /// A session for a connection to `host` (the name or address that the certificate must be for) over `fd`,
  /// which stays the caller's. `tickets`, with `server` as its key, or nullptr: nothing is resumed. It must
  /// outlive the session. `offer_h2`: ALPN names HTTP/2 before HTTP/1.1. nullptr: OpenSSL is out of memory.
  std::unique_ptr<TlsSession> make_session(int fd, const std::string& host, const std::string& server,
                                           TlsTickets* tickets, bool offer_h2 = false) const;

 private:
  explicit TlsContext(OpenSslPtr<SSL_CTX> ctx) : ctx_{std::move(ctx)} {}
  OpenSslPtr<SSL_CTX> ctx_;
};

/// What TlsContext::make_session() makes it from. Takes `ssl`, ready but for its BIO and its peer's name.
std::unique_ptr<TlsSession> make_tls_session(OpenSslPtr<SSL> ssl, int fd, const std::string& host,
                                             const std::string& server, TlsTickets* tickets);
/// The callbacks of a context whose sessions make_tls_session() makes.
int verify_tls_peer(int verified, X509_STORE_CTX* store);
int keep_tls_session(SSL* ssl, SSL_SESSION* session);

}  // namespace pepe
