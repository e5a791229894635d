#include "engine/dialer.h"

#include <unordered_map>
#include <utility>

#include "engine/dial_plan.h"
#include "engine/resolver.h"
#include "engine/transport.h"

namespace pepe {
namespace {

using WorkGuard = asio::executor_work_guard<asio::io_context::executor_type>;

/// What the dials of one worker share.
struct DialContext {
  asio::io_context& io;
  RoutePlan& plan;
  Resolver resolver;
};

/// One connection on its way: address, socket, then what its scheme asks for. Its steps are told to stop when it is
/// destroyed, so no handler of theirs finds it gone.
class Dial {
 public:
  using Done = std::function<void(Expected<Dialed>)>;

  Dial(DialContext& context, const Origin& origin, Done done)
      : context_{context}, origin_{origin}, done_{std::move(done)}, socket_{context.io}, guard_{context.io.get_executor()} {}
  ~Dial() {
    context_.resolver.cancel(lookup_);
    if (connect_) connect_->cancel();
  }

  /// May end at once: only ever called from the io_context.
  void start();
  const std::string& phase() const noexcept { return phase_; }

 private:
  void look_up();
  void on_addresses(const Addresses& addresses);
  void on_socket(Socket socket);
  /// Last: `done_` destroys this.
  void finish(Expected<Dialed> dialed) {
    const Done done = std::move(done_);
    done(std::move(dialed));
  }

  DialContext& context_;
  const Origin origin_;
  Done done_;
  std::string phase_{"connecting"};
  HostPort to_;
  Peer peer_;
  Resolver::Id lookup_{0};
  std::shared_ptr<TcpConnect> connect_;
  Socket socket_;
  const WorkGuard guard_;  ///< A loop that has nothing but this dial to wait for goes on.
};

void Dial::start() {
  const std::string& unix_socket = context_.plan.unix_socket();
  if (!unix_socket.empty()) {
    Expected<Socket> socket = connect_unix(context_.io, unix_socket);
    if (!socket) return finish(std::move(socket).error());
    return on_socket(*std::move(socket));
  }
  Expected<HostPort> to = context_.plan.destination(origin_);
  if (!to) return finish(std::move(to).error());
  to_ = *std::move(to);
  look_up();
}

void Dial::look_up() {
  if (to_.host.empty()) return on_addresses({asio::ip::address_v4::loopback(), asio::ip::address_v6::loopback()});
  error_code ec;
  const asio::ip::address literal = asio::ip::make_address(to_.host, ec);
  if (!ec) return on_addresses({literal});
  phase_ = "looking up " + to_.host;
  peer_.name = to_.host;
  lookup_ = context_.resolver.resolve(to_.host, [this](const Expected<Addresses>& addresses) {
    if (!addresses) return finish(Error{addresses.error()});
    on_addresses(context_.plan.names().order(to_.host, *addresses));
  });
}

void Dial::on_addresses(const Addresses& addresses) {
  phase_ = "connecting";
  connect_ = std::make_shared<TcpConnect>(context_.io, addresses, to_.port, context_.plan.local());
  const bool choice = addresses.size() > 1 && !peer_.name.empty();
  connect_->start([this, choice](Expected<TcpConnect::Connected> connected) {
    if (!connected) return finish(std::move(connected).error());
    if (choice) context_.plan.names().connected(peer_.name, connected->address);
    peer_.address = connected->address;
    on_socket(std::move(connected->socket));
  });
}

void Dial::on_socket(Socket socket) {
  socket_ = std::move(socket);
  if (origin_.scheme == "https") return finish(Error{"https is not built yet"});
  error_code ec;
  const int fd = socket_.release(ec);
  if (ec) return finish(system_error("dial", ec.value()));
  finish(Dialed{fd, nullptr, false, std::move(peer_)});
}

class AsioDialer final : public Dialer {
 public:
  AsioDialer(asio::io_context& io, RoutePlan& plan)
      : context_{io, plan, Resolver{io, plan.names(), plan.make_name_service(io)}} {}

  Id dial(const Origin& origin, Done done) override {
    const Id id = ++last_id_;
    auto dial = std::make_unique<Dial>(context_, origin, [this, id, done = std::move(done)](Expected<Dialed> dialed) {
      finish(id, done, std::move(dialed));
    });
    dials_.emplace(id, std::move(dial));
    asio::post(context_.io, [this, id] {
      const auto found = dials_.find(id);
      if (found != dials_.end()) found->second->start();
    });
    return id;
  }

  void cancel(Id id) override { dials_.erase(id); }

  std::string phase(Id id) const override {
    const auto found = dials_.find(id);
    return found == dials_.end() ? std::string{} : found->second->phase();
  }

  bool current(const Peer& peer) override {
    if (peer.name.empty() || !context_.plan.names_move()) return true;
    context_.resolver.refresh(peer.name);
    return context_.plan.names().lists(peer.name, peer.address);
  }

 private:
  void finish(Id id, const Done& done, Expected<Dialed> dialed) {
    dials_.erase(id);
    done(std::move(dialed));
  }

  DialContext context_;
  Id last_id_{0};
  std::unordered_map<Id, std::unique_ptr<Dial>> dials_;  ///< After context_: destroyed first, they refer to it.
};

}  // namespace

std::unique_ptr<Dialer> make_dialer(asio::io_context& io, DialPlan& plan) {
  return std::make_unique<AsioDialer>(io, static_cast<RoutePlan&>(plan));
}

}  // namespace pepe
