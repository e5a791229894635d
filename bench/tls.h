#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <string_view>

#include "pepe/base/expected.h"

namespace pepe {

struct TlsDeleter {
  void operator()(SSL* tls) const noexcept { SSL_free(tls); }
  void operator()(SSL_CTX* context) const noexcept { SSL_CTX_free(context); }
};
using TlsContext = std::unique_ptr<SSL_CTX, TlsDeleter>;
using TlsHandle = std::unique_ptr<SSL, TlsDeleter>;

/// A server with a certificate for localhost, 127.0.0.1 and ::1 that signs itself and lives in memory only; with
/// `http2` it chooses HTTP/2 where it is offered. When `pem_file` is not empty the certificate is written there, for
/// clients that are to trust it.
Expected<TlsContext> make_server_context(const std::string& pem_file, bool http2);

/// A client that trusts whoever answers, and reads ahead: one recv for many records.
Expected<TlsContext> make_client_context();

/// One TLS connection of the server. It is given what was received and sends directly, so that a wake-up costs one recv
/// whatever the number of records in it.
class TlsStream {
 public:
  TlsStream(SSL_CTX* context, int fd);
  TlsStream(const TlsStream&) = delete;  // its BIO knows its address
  TlsStream& operator=(const TlsStream&) = delete;

  /// Ciphertext for read(), which must be called until it returns 0 or less before the memory is used again.
  void feed(std::string_view ciphertext) { input_ = ciphertext; }
  /// Plaintext bytes; 0: all input is used up; below 0: the connection is at its end.
  int read(char* out, int size);
  /// Plaintext bytes sent; 0: the socket is full, call again with the same bytes; below 0: the connection failed.
  int write(std::string_view plaintext);

 private:
  static BIO_METHOD* bio_method();

  int fd_;
  std::string_view input_;  ///< Borrowed from the caller of feed().
  TlsHandle tls_;
};

}  // namespace pepe
