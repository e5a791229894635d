#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/asio.h"
#include "engine/tls_session.h"
#include "pepe/base/expected.h"
#include "pepe/engine/attack.h"

namespace pepe {

/// Where a target's connections go: the scheme, host and port of its URL. Connections are reused per Origin.
struct Origin {
  std::string scheme;  ///< "http" or "https".
  std::string host;    ///< Without brackets; may be empty, which means this machine.
  std::uint16_t port{0};
  friend auto operator<=>(const Origin&, const Origin&) = default;
};

/// What the options, the environment (HTTP_PROXY and its like) and the certificate files say about connecting, read
/// once at the start. Immutable afterwards but for its name cache, so all workers share it.
class DialPlan {
 public:
  virtual ~DialPlan() = default;
  /// Requests to `origin` go to a proxy in absolute form; the value of Proxy-Authorization in `*authorization` when the
  /// proxy wants one (else empty).
  virtual bool absolute_form(const Origin& origin, std::string* authorization) const = 0;
};

/// Reads certificates and proxy settings. Error: vegeta's texts (`open F: no such file or directory`, `bad certificate`).
Expected<std::unique_ptr<DialPlan>> make_dial_plan(const AttackOptions& options);

/// A connection that is ready for its first request.
struct Dialed {
  int fd{-1};                       ///< Non-blocking, TCP_NODELAY; the receiver closes it.
  std::unique_ptr<TlsSession> tls;  ///< Handshake done; nullptr on plain connections.
  bool h2{false};                   ///< ALPN chose HTTP/2.
};

/// Opens connections for one worker: name, addresses side by side, unix socket, proxy tunnel, TLS handshake. Lives on
/// the worker's io_context and on its thread only. It has no timeout: the hit's deadline cancels it.
class Dialer {
 public:
  using Id = std::uint64_t;
  /// Gets the connection, or the cause in vegeta's words without the "Get \"url\": " in front
  /// (`dial tcp 0.0.0.0:0->127.0.0.1:1: connect: connection refused`).
  using Done = std::function<void(Expected<Dialed>)>;

  virtual ~Dialer() = default;
  /// Starts one connection. `done` runs on the io_context, never inside dial().
  virtual Id dial(const Origin& origin, Done done) = 0;
  /// Gives a dial up and closes what it had opened; its `done` will not run. Nothing for an unknown id.
  virtual void cancel(Id id) = 0;
  /// What the dial is doing, for the text of a timeout: "looking up NAME", "connecting", "TLS handshake". Empty: unknown id.
  virtual std::string phase(Id id) const = 0;
};

std::unique_ptr<Dialer> make_dialer(asio::io_context& io, DialPlan& plan);

}  // namespace pepe
