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
  /// Which of the destinations that -connect-to gives it: 1 to DialPlan::routes(); 0: each new connection
  /// takes the next.
  std::uint32_t route{0};
  friend auto operator<=>(const Origin&, const Origin&) = default;
};

/// What the options, the environment (HTTP_PROXY and its like) and the certificate files say about
/// connecting, read once at the start. Immutable afterwards but for its name cache, so all workers share it.
class DialPlan {
 public:
  virtual ~DialPlan() = default;
  /// Loads what connections to `origin` need that takes long (an https origin: the system's authorities, 20
  /// ms). To be called before the run for the origins that are known by then; the first dial does it
  /// otherwise.
  virtual void prepare(const Origin& origin) = 0;
  /// Requests to `origin` go to a proxy in absolute form; the value of Proxy-Authorization in
  /// `*authorization` when the proxy wants one (else empty).
  virtual bool absolute_form(const Origin& origin, std::string* authorization) const = 0;
  /// Connections to `origin` may turn out to be HTTP/2.
  virtual bool may_speak_h2(const Origin& origin) const = 0;
  /// How many destinations -connect-to gives `origin`; 1 without it. Hits that take Origin::route 1 to
  /// routes() in turn spread over all of them also where connections are kept alive.
  virtual std::uint32_t routes(const Origin& origin) const = 0;
  /// One line for a person when connections to `origin` go through a proxy, without its password; else empty.
  virtual std::string notice(const Origin& origin) const = 0;
  /// -dns-ttl is above 0: Dialer::current() is worth asking before an idle connection is used again.
  virtual bool names_move() const = 0;
};

/// Reads certificates and proxy settings. Error: vegeta's texts (`open F: no such file or directory`, `bad
/// certificate`).
Expected<std::unique_ptr<DialPlan>> make_dial_plan(const AttackOptions& options);

/// Where a connection ended up.
struct Peer {
  std::string name;           ///< The name that was looked up; empty: an address or a unix socket.
  asio::ip::address address;  ///< Unspecified for a unix socket.
};

/// A connection that is ready for its first request.
struct Dialed {
  int fd{-1};                       ///< Non-blocking, TCP_NODELAY; the receiver closes it.
  std::unique_ptr<TlsSession> tls;  ///< Handshake done; nullptr on plain connections.
  bool h2{false};                   ///< HTTP/2: ALPN chose it, or -h2c.
  Peer peer;
};

/// Opens connections for one worker: name, addresses side by side, unix socket, proxy tunnel, TLS handshake.
/// Lives on the worker's io_context and on its thread only. It has no timeout: the hit's deadline cancels it.
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
  /// What the dial is doing, for the text of a timeout: "looking up NAME", "connecting", "TLS handshake".
  /// Empty: unknown id.
  virtual std::string phase(Id id) const = 0;
  /// False when the name of `peer` has moved to other addresses: the connection is to be closed after its
  /// current request. Asks for the name again, in the background, when its last answer is older than
  /// -dns-ttl.
  virtual bool current(const Peer& peer) = 0;
  /// No dial and no question for a name is under way: the io_context has nothing of this dialer's to wait for.
  virtual bool idle() const = 0;
};

/// REQUIRES: `plan` comes from make_dial_plan() and outlives the dialer; `io` runs no handler after the
/// dialer is gone.
std::unique_ptr<Dialer> make_dialer(asio::io_context& io, DialPlan& plan);

}  // namespace pepe
