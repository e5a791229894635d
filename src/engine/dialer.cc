#include "engine/dialer.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <unordered_map>
#include <utility>

#include "engine/dial_plan.h"
#include "engine/resolver.h"
#include "engine/tls_context.h"
#include "engine/transport.h"
#include "pepe/base/error.h"

namespace pepe {
namespace {

using WorkGuard = asio::executor_work_guard<asio::io_context::executor_type>;

/// What the dials of one worker share.
struct DialContext {
  asio::io_context& io;
  RoutePlan& plan;
  Resolver resolver;
  TlsTickets* tickets;
};

/// The TLS handshake of a dial.
class TlsHandshake final : public SocketStep {
 public:
  explicit TlsHandshake(TlsSession& session) : session_{session} {}
  Next advance(int fd) override;
  const std::string& error() const override { return error_; }

 private:
  TlsSession& session_;
  std::string error_;
};

SocketStep::Next TlsHandshake::advance(int fd) {
  std::array<char, 16384> buffer;
  for (;;) {
    switch (session_.handshake()) {
      case TlsSession::Status::kOk: return Next::kDone;
      case TlsSession::Status::kWantWrite: return Next::kWhenWritable;
      case TlsSession::Status::kWantRead: break;
      default: error_ = session_.error(); return Next::kFailed;
    }
    const ssize_t got = recv(fd, buffer.data(), buffer.size(), 0);
    if (got > 0) {
      session_.feed({buffer.data(), static_cast<std::size_t>(got)});
    } else if (got == 0) {
      session_.feed_end();
    } else if (errno == EAGAIN || errno == EINTR) {
      return Next::kWhenReadable;
    } else {
      error_ = socket_error("read", fd, errno);
      return Next::kFailed;
    }
  }
}

/// One connection on its way: name, socket, then what its scheme asks for. Shared with the handlers of its
/// socket, which may still be queued when it is cancelled.
class Dial : public std::enable_shared_from_this<Dial> {
 public:
  using Done = std::function<void(Expected<Dialed>)>;

  Dial(DialContext& context, const Origin& origin, Done done)
      : context_{context},
        origin_{origin},
        done_{std::move(done)},
        socket_{context.io},
        guard_{context.io.get_executor()} {}

  /// May end at once: only ever called from the io_context.
  void start();
  /// Closes what was opened; `done` will not run.
  void cancel();
  const std::string& phase() const noexcept { return phase_; }

 private:
  void look_up();
  void on_addresses(const Addresses& addresses);
  void on_socket(Socket socket);
  bool next_step();
  void advance();
  void on_ready(error_code ec);
  void hand_over();
  void fail(const Error& error);
  void finish(Expected<Dialed> dialed) {
    const Done done = std::exchange(done_, nullptr);
    cancel();
    done(std::move(dialed));
  }

  DialContext& context_;
  const Origin origin_;
  Done done_;
  std::string phase_{"connecting"};
  Route route_;
  Peer peer_;
  Resolver::Id lookup_{0};
  std::shared_ptr<TcpConnect> connect_;
  Socket socket_;
  bool tunnelled_{false};
  std::unique_ptr<TlsSession> tls_;
  std::unique_ptr<SocketStep> step_;  ///< Under way; nullptr: none.
  WorkGuard guard_;                   ///< A loop that has nothing but this dial to wait for goes on.
};

void Dial::start() {
  const std::string& unix_socket = context_.plan.unix_socket();
  if (!unix_socket.empty()) {
    Expected<Socket> socket = connect_unix(context_.io, unix_socket);
    if (!socket) return finish(std::move(socket).error());
    return on_socket(*std::move(socket));
  }
  Expected<Route> route = context_.plan.route(origin_);
  if (!route) return finish(std::move(route).error());
  route_ = *std::move(route);
  look_up();
}

void Dial::look_up() {
  const std::string& host = route_.to.host;
  if (host.empty()) return on_addresses({asio::ip::address_v4::loopback(), asio::ip::address_v6::loopback()});
  error_code ec;
  const asio::ip::address literal = asio::ip::make_address(host, ec);
  if (!ec) return on_addresses({literal});
  phase_ = "looking up " + host;
  peer_.name = host;
  lookup_ = context_.resolver.resolve(host, [this](const Expected<Addresses>& addresses) {
    if (!addresses) return fail(addresses.error());
    on_addresses(context_.plan.names().order(peer_.name, *addresses));
  });
}

void Dial::on_addresses(const Addresses& addresses) {
  phase_ = "connecting";
  connect_ = std::make_shared<TcpConnect>(context_.io, addresses, route_.to.port, context_.plan.local());
  const bool choice = addresses.size() > 1 && !peer_.name.empty();
  connect_->start([this, choice](Expected<TcpConnect::Connected> connected) {
    if (!connected) return fail(connected.error());
    if (choice) context_.plan.names().connected(peer_.name, connected->address);
    peer_.address = connected->address;
    on_socket(std::move(connected->socket));
  });
}

void Dial::on_socket(Socket socket) {
  socket_ = std::move(socket);
  if (next_step()) advance();
}

// Through the proxy first, then TLS with whoever is at the other end. False: the dial is over.
bool Dial::next_step() {
  const Proxy* proxy = route_.proxy;
  const bool secure = origin_.scheme == "https" && !context_.plan.h2c();
  // HTTP/2 has no absolute form that a proxy of HTTP/1.1 would read: it goes through a tunnel, like TLS.
  const bool tunnel = secure || context_.plan.h2c();
  if (proxy != nullptr && !std::exchange(tunnelled_, true) && (tunnel || proxy->kind == Proxy::Kind::kSocks5)) {
    if (proxy->kind == Proxy::Kind::kHttps) {
      fail(Error{"an https proxy cannot be used for https URLs or with -h2c"});
      return false;
    }
    phase_ = "waiting for the proxy";
    step_ = make_tunnel(*proxy, origin_.host, origin_.port, context_.plan.tunnel_options());
    return true;
  }
  const bool to_proxy = proxy != nullptr && proxy->kind == Proxy::Kind::kHttps;
  if (tls_ || !(secure || to_proxy)) {
    step_.reset();
    return true;
  }
  const Expected<std::unique_ptr<TlsContext>>& tls = context_.plan.tls();
  if (!tls) {
    finish(Error{tls.error()});
    return false;
  }
  const HostPort peer = to_proxy ? HostPort{proxy->host, proxy->port} : HostPort{origin_.host, origin_.port};
  tls_ = (*tls)->make_session(socket_.native_handle(), peer.host, format_host_port(peer.host, peer.port),
                              context_.tickets, !to_proxy && context_.plan.offers_h2());
  if (!tls_) {
    finish(Error{"tls: out of memory"});
    return false;
  }
  phase_ = "TLS handshake";
  step_ = std::make_unique<TlsHandshake>(*tls_);
  return true;
}

void Dial::advance() {
  const auto when_ready = [self = shared_from_this()](error_code ec) { self->on_ready(ec); };
  while (step_) {
    switch (step_->advance(socket_.native_handle())) {
      case SocketStep::Next::kWhenReadable: return socket_.async_wait(Socket::wait_read, when_ready);
      case SocketStep::Next::kWhenWritable: return socket_.async_wait(Socket::wait_write, when_ready);
      case SocketStep::Next::kFailed: return finish(Error{step_->error()});
      case SocketStep::Next::kDone:
        if (!next_step()) return;
    }
  }
  hand_over();
}

void Dial::on_ready(error_code ec) {
  if (!done_) return;
  if (ec) return finish(system_error("dial", ec.value()));
  advance();
}

void Dial::hand_over() {
  error_code ec;
  const int fd = socket_.release(ec);
  if (ec) return finish(system_error("dial", ec.value()));
  const bool h2 = context_.plan.h2c() || (tls_ && tls_->h2());
  finish(Dialed{fd, std::move(tls_), h2, std::move(peer_)});
}

// The way to a proxy failed, or the way to the origin when there is none.
void Dial::fail(const Error& error) {
  if (route_.proxy == nullptr) return finish(error);
  finish(Error{route_.proxy->error_prefix(format_host_port(origin_.host, origin_.port)) + error.text()});
}

void Dial::cancel() {
  done_ = nullptr;
  context_.resolver.cancel(lookup_);
  if (connect_) connect_->cancel();
  error_code ignored;
  if (socket_.is_open()) socket_.close(ignored);
  guard_.reset();
}

class AsioDialer final : public Dialer {
 public:
  AsioDialer(asio::io_context& io, RoutePlan& plan)
      : context_{io, plan, Resolver{io, plan.names(), plan.make_name_service(io)}, plan.make_tickets()} {}
  ~AsioDialer() override {
    for (auto& [id, dial] : dials_) dial->cancel();
  }

  Id dial(const Origin& origin, Done done) override {
    const Id id = ++last_id_;
    dials_.emplace(
        id, std::make_shared<Dial>(context_, origin, [this, id, done = std::move(done)](Expected<Dialed> dialed) {
          dials_.erase(id);
          done(std::move(dialed));
        }));
    asio::post(context_.io, [this, id] {
      const auto found = dials_.find(id);
      if (found == dials_.end()) return;
      const std::shared_ptr<Dial> dial = found->second;
      dial->start();
    });
    return id;
  }

  void cancel(Id id) override {
    const auto dial = dials_.extract(id);
    if (!dial.empty()) dial.mapped()->cancel();
  }

  std::string phase(Id id) const override {
    const auto found = dials_.find(id);
    return found == dials_.end() ? std::string{} : found->second->phase();
  }

  bool current(const Peer& peer) override {
    if (peer.name.empty() || !context_.plan.names_move()) return true;
    context_.resolver.refresh(peer.name);
    return context_.plan.names().lists(peer.name, peer.address);
  }

  bool idle() const override { return dials_.empty() && context_.resolver.idle(); }

 private:
  DialContext context_;
  Id last_id_{0};
  std::unordered_map<Id, std::shared_ptr<Dial>> dials_;
};

}  // namespace

std::unique_ptr<Dialer> make_dialer(asio::io_context& io, DialPlan& plan) {
  return std::make_unique<AsioDialer>(io, static_cast<RoutePlan&>(plan));
}

}  // namespace pepe
