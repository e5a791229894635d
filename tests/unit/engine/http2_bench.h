#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/http2_connection.h"
#include "engine/pool.h"
#include "unit/engine/http2_peer.h"

namespace pepe {

/// What became of a hit.
struct HitOutcome {
  std::uint64_t seq{0};
  int code{0};
  std::string body{};
  std::string error{};
  Breakage breakage{Breakage::kInAnswer};
  bool known{false};
  bool reused{false};
};

/// Dials that end when the test says so.
class HeldDialer final : public Dialer {
 public:
  Id dial(const Origin&, Done done) override {
    dials.emplace(++last_, std::move(done));
    return last_;
  }
  void cancel(Id id) override { dials.erase(id); }
  std::string phase(Id) const override { return "connecting"; }
  bool current(const Peer&) override { return true; }
  bool idle() const override { return dials.empty(); }

  std::map<Id, Done> dials;

 private:
  Id last_{0};
};

/// A worker without a schedule: a pool of connections to peers that the test scripts.
class Http2Bench final : public ConnectionOwner, public PoolOwner {
 public:
  explicit Http2Bench(std::uint32_t streams = 100, PoolLimits limits = {.h2c = true},
                      std::uint64_t keep_limit = UINT64_MAX)
      : streams_{streams},
        http2_{responses_, keep_limit},
        context_{.ready = ready_,
                 .owner = *this,
                 .read_buffer = read_buffer_,
                 .plain_buffer = {},
                 .keep_limit = keep_limit,
                 .writer = writer_,
                 .responses = responses_,
                 .unflushed = unflushed_,
                 .unfinished = unfinished_,
                 .http2 = &http2_},
        pool_{{"http", "h", 80, 0}, limits, *this} {}

  /// Sends the hit of `target` as soon as there is room.
  Hit& send(Target target, bool keepalive = true) {
    Asked& asked = asked_.emplace_back();
    asked.target = std::move(target);
    asked.request =
        make_request(asked.target, {.user_agent = "pepe/test", .keepalive = keepalive, .plan = plan_->get()});
    asked.state.target = &asked.target;
    asked.state.request = &asked.request;
    return send_again(asked.state);
  }
  Hit& send_again(TargetState& state) {
    Hit& hit = hits_.emplace_back();
    hit.seq = hits_.size() - 1;
    hit.target = &state;
    hit.request = state.request;
    ask(hit);
    return hit;
  }
  void get() { send({"GET", "http://h/p", {}, nullptr}); }

  /// Connects the oldest dials that wait.
  void connect(std::size_t most = SIZE_MAX) {
    auto dials = std::exchange(dialer_.dials, {});
    while (dials.size() > most) dialer_.dials.insert(dials.extract(std::prev(dials.end())));
    for (auto& [id, done] : dials) {
      int ends[2];
      ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
      peers.push_back(std::make_unique<Http2Peer>(ends[1], streams_));
      done(Dialed{ends[0], nullptr, true, {}});
    }
  }
  void fail_dials(const std::string& error) {
    auto dials = std::exchange(dialer_.dials, {});
    for (auto& [id, done] : dials) done(Error{error});
  }
  /// Until nothing moves any more.
  void run() {
    for (bool moved = true; moved;) {
      for (std::size_t i = 0; i < unflushed_.size(); ++i) unflushed_[i]->flush();
      unflushed_.clear();
      moved = !unfinished_.empty();
      for (Connection* const connection : std::exchange(unfinished_, {})) connection->go_on();
      for (const auto& peer : peers) moved = peer->pump() || moved;
      for (const ReadyEvent& event : ready_.poll()) {
        static_cast<Connection*>(event.tag)->on_ready(event);
        moved = true;
      }
    }
  }
  /// Until a connection has put something off.
  void run_until_unfinished() {
    while (unfinished_.empty()) {
      for (const auto& peer : peers) peer->pump();
      for (const ReadyEvent& event : ready_.poll()) static_cast<Connection*>(event.tag)->on_ready(event);
    }
  }
  Http2Peer& connect_and_run() {
    connect();
    run();
    return *peers.back();
  }
  void give_up(Hit& hit) {
    Connection& connection = *hit.connection;
    abandoned = connection.abandon(hit);
    pool_.release(connection);
  }

  std::size_t dials() const { return dialer_.dials.size(); }
  std::vector<std::unique_ptr<Http2Peer>> peers;
  std::vector<HitOutcome> outcomes;
  std::size_t recycled{0};
  Abandoned abandoned;

 private:
  struct Asked {
    Target target;
    Request request;
    TargetState state;
  };

  void ask(Hit& hit) {
    if (Connection* const connection = pool_.acquire(hit)) connection->start(hit);
  }
  void on_known_answer(Connection& connection, Hit& hit) override {
    outcomes.push_back({.seq = hit.seq, .code = hit.target->cache.code(), .known = true, .reused = hit.reused});
    pool_.release(connection);
  }
  void on_answer(Connection& connection, Hit& hit, Response& response) override {
    outcomes.push_back({.seq = hit.seq,
                        .code = response.code(),
                        .body = std::string{response.body().bytes()},
                        .error = response.status_text(),
                        .reused = hit.reused});
    headers.clear();
    for (const HeaderView& field : response.headers())
      headers += std::string{field.name} + "=" + std::string{field.value} + ";";
    pool_.release(connection);
  }
  void on_broken(Connection& connection, Hit& hit, Breakage breakage, std::string error, Response*) override {
    pool_.release(connection);
    if (breakage == Breakage::kRetired) return ask(hit);
    if (breakage == Breakage::kUnprocessed && hit.refusals++ < 1) return ask(hit);
    outcomes.push_back({.seq = hit.seq, .error = std::move(error), .breakage = breakage, .reused = hit.reused});
  }
  void on_idle_closed(Connection& connection) override { pool_.on_idle_closed(connection); }
  void on_capacity(Connection& connection) override { pool_.on_capacity(connection); }
  Dialer& dialer() override { return dialer_; }
  Connection& new_connection(Connection::Protocol) override { return connections_.emplace_back(context_); }
  void recycle(Connection&) override { ++recycled; }
  void on_connection(Hit& hit, Connection& connection) override { connection.start(hit); }
  void on_no_connection(Hit& hit, std::string error) override {
    outcomes.push_back({.seq = hit.seq, .error = std::move(error)});
  }

 public:
  std::string headers;

 private:
  const std::uint32_t streams_;
  const Expected<std::unique_ptr<DialPlan>> plan_ = make_dial_plan({.h2c = true});
  asio::io_context io_;
  asio::executor_work_guard<asio::io_context::executor_type> work_{asio::make_work_guard(io_)};
  ReadySet ready_{io_};
  std::vector<char> read_buffer_ = std::vector<char>(16384);
  RequestWriter writer_;
  ResponseStash responses_;
  std::vector<Connection*> unflushed_;
  std::vector<Connection*> unfinished_;
  Http2Context http2_;
  ConnectionContext context_;
  HeldDialer dialer_;
  std::deque<Asked> asked_;
  std::deque<Hit> hits_;
  std::deque<Http2Connection> connections_;
  Pool pool_;
};

}  // namespace pepe
