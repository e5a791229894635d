#pragma once

#include <unistd.h>

#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "engine/asio.h"
#include "engine/dialer.h"

namespace pepe {

/// The default options but for one.
template <class Field>
AttackOptions with(Field AttackOptions::*field, std::type_identity_t<Field> value) {
  AttackOptions options;
  options.*field = std::move(value);
  return options;
}

/// Descriptors that this process has open.
inline std::ptrdiff_t open_descriptors() {
  return std::distance(std::filesystem::directory_iterator{"/proc/self/fd"}, std::filesystem::directory_iterator{});
}

/// A port on which nobody listens: bound, so that nobody else gets it.
class DeafPort {
 public:
  explicit DeafPort(const char* address = "127.0.0.1")
      : socket_{io_, asio::ip::tcp::endpoint{asio::ip::make_address(address), 0}} {}
  std::uint16_t port() const { return socket_.local_endpoint().port(); }

 private:
  asio::io_context io_;
  asio::ip::tcp::socket socket_;
};

/// A port on which somebody listens, by blocking calls.
class Listener {
 public:
  explicit Listener(const char* address = "127.0.0.1", std::uint16_t port = 0)
      : acceptor_{io_, asio::ip::tcp::endpoint{asio::ip::make_address(address), port}} {}
  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
  asio::ip::tcp::socket accept() { return acceptor_.accept(); }

 private:
  asio::io_context io_;
  asio::ip::tcp::acceptor acceptor_;
};

/// Accepts nothing and has no room in its queue: a connection to it stays silent.
class SilentListener {
 public:
  explicit SilentListener(const char* address) : acceptor_{io_} {
    const asio::ip::tcp::endpoint endpoint{asio::ip::make_address(address), 0};
    acceptor_.open(endpoint.protocol());
    acceptor_.bind(endpoint);
    acceptor_.listen(0);
    for (int i = 0; i < 4; ++i) {
      auto& filler = fillers_.emplace_back(io_);
      filler.async_connect(acceptor_.local_endpoint(), [](error_code) {});
    }
    io_.poll();
  }
  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

 private:
  asio::io_context io_;
  asio::ip::tcp::acceptor acceptor_;
  std::deque<asio::ip::tcp::socket> fillers_;
};

/// What a dial came to, with the descriptor owned.
struct DialOutcome {
  Expected<Dialed> dialed;
  const std::string& error() const { return dialed.error().text(); }
  bool ok() const { return dialed.has_value(); }
  int fd() const { return dialed->fd; }
  DialOutcome(Expected<Dialed> from) : dialed{std::move(from)} {}
  DialOutcome(DialOutcome&&) = default;
  ~DialOutcome() {
    if (dialed && dialed->fd >= 0) close(dialed->fd);
  }
};

/// A plan, a dialer and the loop that they live on.
class DialBench {
 public:
  explicit DialBench(const AttackOptions& options) : plan_{make_dial_plan(options)} {
    if (plan_) dialer_ = make_dialer(io_, **plan_);
  }

  DialOutcome dial(const Origin& origin) {
    std::optional<Expected<Dialed>> outcome;
    dialer_->dial(origin, [&](Expected<Dialed> dialed) { outcome = std::move(dialed); });
    io_.restart();
    while (!outcome && io_.run_one() > 0) {
    }
    return outcome ? std::move(*outcome) : Expected<Dialed>{Error{"the loop ended before the dial"}};
  }

  asio::io_context& io() { return io_; }
  DialPlan& plan() { return **plan_; }
  Dialer& dialer() { return *dialer_; }

 private:
  asio::io_context io_;
  Expected<std::unique_ptr<DialPlan>> plan_;
  std::unique_ptr<Dialer> dialer_;
};

}  // namespace pepe
