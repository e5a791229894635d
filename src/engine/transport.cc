#include "engine/transport.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <utility>

#include "engine/socket_text.h"
#include "pepe/base/error.h"

namespace pepe {
namespace {

constexpr std::chrono::milliseconds kSilenceBeforeNext{250};

// A family that this machine cannot use at all says less than what became of the other one.
bool is_unusable_family(int errno_value) {
  return errno_value == EADDRNOTAVAIL || errno_value == ENETUNREACH || errno_value == EAFNOSUPPORT;
}

asio::generic::stream_protocol::endpoint tcp_endpoint(const asio::ip::address& address, std::uint16_t port) {
  return asio::ip::tcp::endpoint{address, port};
}

}  // namespace

asio::ip::address to_address(const sockaddr& from) {
  if (from.sa_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(from);
    return asio::ip::address_v4{ntohl(v4.sin_addr.s_addr)};
  }
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(from);
  asio::ip::address_v6::bytes_type bytes;
  std::memcpy(bytes.data(), &v6.sin6_addr, bytes.size());
  return asio::ip::address_v6{bytes, v6.sin6_scope_id};
}

std::string format_endpoint(const asio::ip::address& address, unsigned port) {
  const std::string host = address.to_string();
  return (address.is_v6() ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::string socket_error(std::string_view operation, int fd, int errno_value) {
  std::string text{operation};
  text += " tcp " + local_address_text(fd) + "->" + peer_address_text(fd) + ": ";
  text += operation;
  return text + ": " + errno_text(errno_value);
}

bool is_connected_to_itself(const Socket& socket, const Socket::endpoint_type& remote) {
  error_code ec;
  const auto local = socket.local_endpoint(ec);
  return !ec && local == remote;
}

TcpConnect::TcpConnect(asio::io_context& io, std::vector<asio::ip::address> addresses, std::uint16_t port,
                       std::optional<asio::ip::address> local)
    : io_{io}, addresses_{std::move(addresses)}, port_{port}, local_{std::move(local)}, silence_{io} {}

void TcpConnect::start(Done done) {
  done_ = std::move(done);
  try_next();
}

void TcpConnect::cancel() {
  done_ = nullptr;
  close_all();
}

void TcpConnect::try_next() {
  while (sockets_.size() < addresses_.size()) {
    const std::size_t index = sockets_.size();
    Socket& socket = sockets_.emplace_back(io_);
    if (const Failure failure = open(socket, addresses_[index]); failure.step != nullptr) {
      note(index, failure);
      continue;
    }
    ++pending_;
    socket.async_connect(tcp_endpoint(addresses_[index], port_),
                         [self = shared_from_this(), index](error_code ec) { self->on_connected(index, ec); });
    if (sockets_.size() < addresses_.size()) {
      silence_.expires_after(kSilenceBeforeNext);
      silence_.async_wait([self = shared_from_this()](error_code ec) { self->on_silence(ec); });
    }
    return;
  }
  if (pending_ == 0) asio::post(io_, [self = shared_from_this()] { self->fail(); });
}

TcpConnect::Failure TcpConnect::open(Socket& socket, const asio::ip::address& address) const {
  error_code ec;
  socket.open(tcp_endpoint(address, port_).protocol(), ec);
  if (ec) return {"socket", ec.value()};
  socket.native_non_blocking(true, ec);
  socket.set_option(asio::ip::tcp::no_delay{true}, ec);
  if (!local_) return {};
#ifdef IP_BIND_ADDRESS_NO_PORT
  // The port is chosen by connect(), which knows the destination: one local port can serve many of them.
  const int on = 1;
  setsockopt(socket.native_handle(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
#endif
  socket.bind(tcp_endpoint(*local_, 0), ec);
  if (ec) return {"bind", ec.value()};
  return {};
}

void TcpConnect::on_connected(std::size_t index, error_code ec) {
  --pending_;
  if (!done_) return;
  Socket& socket = sockets_[index];
  if (!ec && is_connected_to_itself(socket, tcp_endpoint(addresses_[index], port_)))
    ec = asio::error::connection_refused;
  if (ec) {
    note(index, {"connect", ec.value()});
    silence_.cancel();
    try_next();
    return;
  }
  Connected connected{std::move(socket), addresses_[index]};
  close_all();
  std::exchange(done_, nullptr)(std::move(connected));
}

void TcpConnect::on_silence(error_code ec) {
  if (!ec && done_) try_next();
}

void TcpConnect::note(std::size_t index, Failure failure) {
  error_code ignored;
  sockets_[index].close(ignored);
  const bool says_more = is_unusable_family(failure_.errno_value) && !is_unusable_family(failure.errno_value);
  if (failure_.step != nullptr && !says_more) return;
  failure_ = failure;
  failed_index_ = index;
}

void TcpConnect::fail() {
  if (done_) std::exchange(done_, nullptr)(Error{text(failed_index_, failure_)});
}

void TcpConnect::close_all() {
  silence_.cancel();
  error_code ignored;
  for (Socket& socket : sockets_) {
    if (socket.is_open()) socket.close(ignored);
  }
}

std::string TcpConnect::text(std::size_t index, Failure failure) const {
  const asio::ip::address any = asio::ip::address_v4::any();
  std::string text = "dial tcp " + format_endpoint(local_.value_or(any), 0) + "->";
  text += format_endpoint(addresses_[index], port_) + ": ";
  if (failure.step == std::string_view{"bind"} && local_ && local_->is_v6() != addresses_[index].is_v6()) {
    return text + "no suitable address found: -laddr is of the other IP version";
  }
  text += std::string{failure.step} + ": " + errno_text(failure.errno_value);
  if (failure.step == std::string_view{"connect"} && failure.errno_value == EADDRNOTAVAIL) {
    text += addresses_[index].is_v6() ? " (no local IPv6 address or no free local port: " : " (no free local port: ";
    text += "keep connections alive, or widen net.ipv4.ip_local_port_range)";
  }
  return text;
}

Expected<Socket> connect_unix(asio::io_context& io, const std::string& path) {
  const auto failed = [&path](const char* step, int errno_value) {
    return system_error("dial unix " + path + ": " + step, errno_value);
  };
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) return failed("connect", EINVAL);
  std::memcpy(address.sun_path, path.data(), path.size());
  std::size_t size = offsetof(sockaddr_un, sun_path) + path.size() + 1;
  if (path[0] == '@') {
    address.sun_path[0] = '\0';
    --size;
  }
  Socket socket{io};
  error_code ec;
  socket.open(asio::generic::stream_protocol{AF_UNIX, 0}, ec);
  if (ec) return failed("socket", ec.value());
  socket.native_non_blocking(true, ec);
  // Not async_connect: it takes the EAGAIN of a full backlog for a connection under way, and there is none.
  if (::connect(socket.native_handle(), reinterpret_cast<const sockaddr*>(&address), static_cast<socklen_t>(size)) !=
      0) {
    return failed("connect", errno);
  }
  return socket;
}

}  // namespace pepe
