#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/asio.h"
#include "pepe/base/expected.h"

namespace pepe {

/// A stream socket of any family.
using Socket = asio::generic::stream_protocol::socket;

/// REQUIRES: `from` is an AF_INET or AF_INET6 address.
asio::ip::address to_address(const sockaddr& from);

/// "127.0.0.1:80", "[::1]:80".
std::string format_endpoint(const asio::ip::address& address, unsigned port);

/// An Error in vegeta's words, with `operation` in front: "read tcp 127.0.0.1:5000->127.0.0.1:80: read:
/// connection reset by peer". The addresses are those of the connected socket `fd`.
std::string socket_error(std::string_view operation, int fd, int errno_value);

/// A socket that connects to a port of this machine in the range of local ports can get that very port for
/// its own, and then TCP connects it to itself, although nobody listens there.
bool is_connected_to_itself(const Socket& socket, const Socket::endpoint_type& remote);

/// Opens one TCP connection by trying the addresses of a host in order: the next at once when one fails, and
/// also, while the others go on, when one has been silent for 250 ms (RFC 8305). The first to connect wins.
/// Shared with its own handlers, which may still be queued when it is cancelled.
class TcpConnect : public std::enable_shared_from_this<TcpConnect> {
 public:
  struct Connected {
    Socket socket;  ///< Non-blocking, TCP_NODELAY.
    asio::ip::address address;
  };
  using Done = std::function<void(Expected<Connected>)>;

  /// `local`: -laddr; nullopt: the system chooses.
  TcpConnect(asio::io_context& io, std::vector<asio::ip::address> addresses, std::uint16_t port,
             std::optional<asio::ip::address> local);

  /// `done` runs on the io_context, never inside start(). Error: of the first address that was tried.
  void start(Done done);
  /// Closes everything; `done` will not run.
  void cancel();

 private:
  struct Failure {
    const char* step{nullptr};  ///< "socket", "bind", "connect"; nullptr: none.
    int errno_value{0};
  };
  void try_next();
  Failure open(Socket& socket, const asio::ip::address& address) const;
  void on_connected(std::size_t index, error_code ec);
  void on_silence(error_code ec);
  void note(std::size_t index, Failure failure);
  void fail();
  void close_all();
  std::string text(std::size_t index, Failure failure) const;

  asio::io_context& io_;
  const std::vector<asio::ip::address> addresses_;
  const std::uint16_t port_;
  const std::optional<asio::ip::address> local_;
  Done done_;
  std::deque<Socket> sockets_;  ///< One for each address tried so far.
  std::size_t pending_{0};
  asio::steady_timer silence_;
  std::size_t failed_index_{0};
  Failure failure_;
};

/// A part of a dial that talks over a connected, non-blocking socket: a proxy's greeting, a TLS handshake.
class SocketStep {
 public:
  enum class Next { kDone, kWhenReadable, kWhenWritable, kFailed };
  virtual ~SocketStep() = default;
  /// Goes as far as the socket lets it.
  virtual Next advance(int fd) = 0;
  /// After kFailed.
  virtual const std::string& error() const = 0;
};

/// Connects to the unix socket `path` ("@name": an abstract one), which never waits. The socket is
/// non-blocking.
Expected<Socket> connect_unix(asio::io_context& io, const std::string& path);

}  // namespace pepe
