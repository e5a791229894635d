#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace pepe {

/// One TLS connection over a descriptor that its owner reads: OpenSSL behind a BIO of our own, which takes
/// ciphertext from the worker's read buffer (one recv per wake-up, whatever the number of records) and sends
/// directly. SSL_MODE_RELEASE_BUFFERS: an idle session holds no buffers. Not thread-safe.
class TlsSession {
 public:
  enum class Status {
    kOk,
    kWantRead,   ///< All of the input is used up; more ciphertext is needed.
    kWantWrite,  ///< The socket is full; go on when it is writable.
    kClosed,     ///< close_notify: a clean end.
    kError,      ///< error() says what.
  };
  struct Count {
    Status status{Status::kOk};
    std::size_t bytes{0};
  };

  virtual ~TlsSession() = default;

  /// Hands over ciphertext just received. Borrowed: read() or handshake() must be called until kWantRead (or
  /// an end), or hold(), before the memory is reused.
  virtual void feed(std::span<const char> ciphertext) = 0;
  /// Keeps a copy of what was not used up, to be read later.
  virtual void hold() = 0;
  /// The peer closed the connection (recv gave 0): what follows without close_notify is a truncation.
  virtual void feed_end() = 0;
  virtual Status handshake() = 0;
  /// After the handshake: ALPN chose HTTP/2.
  virtual bool h2() const = 0;
  /// Plaintext into `out`.
  virtual Count read(std::span<char> out) = 0;
  /// Sends plaintext. kWantWrite with bytes == 0: call again with the same bytes when the socket is writable.
  /// kError leaves reading as it is: what the peer said before it hung up (an alert, an early answer) can
  /// still be read.
  virtual Count write(std::string_view plaintext) = 0;
  /// The last failure, in vegeta's words where scripts match on them ("tls: failed to verify certificate:
  /// ...").
  virtual const std::string& error() const = 0;
  /// Sends close_notify, best effort.
  virtual void shutdown() = 0;
};

}  // namespace pepe
