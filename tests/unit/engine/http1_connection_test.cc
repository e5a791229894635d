#include "engine/http1_connection.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/pool.h"
#include "support/gzip.h"

namespace pepe {
namespace {

/// A TLS session that changes nothing on the way, and once has to write before it can read on.
class StubbornTls final : public TlsSession {
 public:
  explicit StubbornTls(int fd) : fd_{fd} {}
  void feed(std::span<const char> ciphertext) override { text_.append(ciphertext.data(), ciphertext.size()); }
  void hold() override {}
  void feed_end() override {}
  Status handshake() override { return Status::kOk; }
  bool h2() const override { return false; }
  Count read(std::span<char> out) override {
    if (text_.empty()) return {Status::kWantRead, 0};
    if (!answered_ && ::send(fd_, "k", 1, MSG_NOSIGNAL) != 1) return {Status::kWantWrite, 0};
    answered_ = true;
    const std::size_t count = text_.copy(out.data(), out.size());
    text_.erase(0, count);
    return {Status::kOk, count};
  }
  Count write(std::string_view plaintext) override { return {Status::kOk, plaintext.size()}; }
  const std::string& error() const override { return text_; }
  void shutdown() override {}

 private:
  const int fd_;
  bool answered_{false};
  std::string text_;
};

/// One connection with one hit on it, to a peer that is played by the test.
class Exchange final : public ConnectionOwner, public PoolOwner {
 public:
  explicit Exchange(bool tls = false) {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    peer = ends[1];
    socket = ends[0];
    target_.url = "http://h/";
    request_ = make_request(target_, {.user_agent = "pepe/test", .plan = plan_->get()});
    state_.target = &target_;
    state_.request = &request_;
    hit_.target = &state_;
    hit_.request = &request_;
    EXPECT_TRUE(
        connection_.open(Dialed{socket, tls ? std::make_unique<StubbornTls>(socket) : nullptr, false, {}}, pool_));
    connection_.start(hit_);
  }
  ~Exchange() override { ::close(peer); }

  void answer(std::string_view bytes) const {
    EXPECT_EQ(::send(peer, bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<long>(bytes.size()));
  }
  void answer_packed(const std::string& packed) const {
    answer("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: " + std::to_string(packed.size()) +
           "\r\n\r\n" + packed);
  }
  /// What a worker does in a turn.
  void turn() {
    for (const ReadyEvent& event : ready_.poll()) static_cast<Connection*>(event.tag)->on_ready(event);
    for (Connection* const connection : std::exchange(unfinished_, {})) connection->go_on();
  }
  bool unfinished() const { return !unfinished_.empty(); }
  void ask_again() { connection_.start(hit_); }
  void give_up() { static_cast<void>(connection_.abandon(hit_)); }
  bool open() const { return connection_.is_open(); }

  int peer;
  int socket;
  std::string outcome;   ///< "200 4194304 bytes", or an error.
  bool reusable{false};  ///< What the connection was when an answer was whole.

 private:
  void on_known_answer(Connection& connection, Hit&) override {
    outcome = "known";
    reusable = connection.reusable();
  }
  void on_answer(Connection& connection, Hit&, Response& response) override {
    reusable = connection.reusable();
    outcome = std::to_string(response.code()) + " " + std::to_string(response.body().kept()) + " bytes";
  }
  void on_broken(Connection&, Hit&, Breakage, std::string error, Response*) override { outcome = std::move(error); }
  void on_idle_closed(Connection&) override {}
  void on_capacity(Connection&) override {}
  Dialer& dialer() override { std::abort(); }
  Connection& new_connection(Connection::Protocol) override { std::abort(); }
  void recycle(Connection&) override {}
  void on_connection(Hit&, Connection&) override {}
  void on_no_connection(Hit&, std::string) override {}

  const Expected<std::unique_ptr<DialPlan>> plan_ = make_dial_plan({});
  asio::io_context io_;
  const asio::executor_work_guard<asio::io_context::executor_type> work_ = asio::make_work_guard(io_);
  ReadySet ready_{io_};
  std::vector<char> read_buffer_ = std::vector<char>(1024);
  std::vector<char> plain_buffer_ = std::vector<char>(64);
  RequestWriter writer_;
  ResponseStash responses_;
  std::vector<Connection*> unflushed_;
  std::vector<Connection*> unfinished_;
  ConnectionContext context_{.ready = ready_,
                             .owner = *this,
                             .read_buffer = read_buffer_,
                             .plain_buffer = plain_buffer_,
                             .keep_limit = UINT64_MAX,
                             .writer = writer_,
                             .responses = responses_,
                             .unflushed = unflushed_,
                             .unfinished = unfinished_};
  Target target_{"GET", {}, {}, nullptr};
  Request request_;
  TargetState state_;
  Hit hit_;
  Pool pool_{{"http", "h", 80, 0}, {}, *this};
  Http1Connection connection_{context_};
};

std::string plain_answer(std::size_t size) {
  return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n" + std::string(size, 'x');
}

TEST(Http1Connection, GivesOthersATurnWhileItsPeerSendsAndSends) {
  Exchange exchange;
  exchange.answer(plain_answer(10'000));
  int turns = 0;
  for (; exchange.outcome.empty() && turns < 100; ++turns) exchange.turn();
  EXPECT_EQ(exchange.outcome, "200 10000 bytes");
  EXPECT_GT(turns, 1);
  EXPECT_FALSE(exchange.unfinished());
}

TEST(Http1Connection, GivesOthersATurnWhileItUnpacks) {
  Exchange exchange;
  exchange.answer_packed(gzip(std::string(std::size_t{4} << 20, 'x')));
  int turns = 0;
  for (; exchange.outcome.empty() && turns < 100; ++turns) exchange.turn();
  EXPECT_EQ(exchange.outcome, "200 4194304 bytes");
  EXPECT_GT(turns, 10);
  EXPECT_TRUE(exchange.open());
}

TEST(Http1Connection, SeesTheEndThatCameWhileItUnpacked) {
  Exchange exchange;
  exchange.answer_packed(gzip(std::string(std::size_t{4} << 20, 'x')));
  EXPECT_EQ(::shutdown(exchange.peer, SHUT_RDWR), 0);
  for (int turns = 0; exchange.outcome.empty() && turns < 100; ++turns) exchange.turn();
  EXPECT_EQ(exchange.outcome, "200 4194304 bytes");
}

TEST(Http1Connection, IsUsedAgainUnlessASendHasFailedOrBytesAreLeft) {
  struct SecondAnswer {
    std::string bytes;
    bool deaf;
    const char* outcome;
    bool reusable;
  };
  const SecondAnswer answers[] = {
      {plain_answer(0), false, "known", true},        {plain_answer(0), true, "known", false},
      {plain_answer(0) + "x", false, "known", false}, {plain_answer(3), false, "200 3 bytes", true},
      {plain_answer(3), true, "200 3 bytes", false},  {plain_answer(3) + "x", false, "200 3 bytes", false},
  };
  for (const SecondAnswer& second : answers) {
    SCOPED_TRACE(second.bytes + (second.deaf ? " from a peer that hears no more" : ""));
    Exchange exchange;
    exchange.answer(plain_answer(0));
    exchange.turn();
    EXPECT_EQ(exchange.outcome, "200 0 bytes");
    EXPECT_TRUE(exchange.reusable);
    exchange.answer(second.bytes);
    if (second.deaf) {
      EXPECT_EQ(::shutdown(exchange.peer, SHUT_RD), 0);
    }
    exchange.ask_again();
    exchange.turn();
    EXPECT_EQ(exchange.outcome, second.outcome);
    EXPECT_EQ(exchange.reusable, second.reusable);
  }
}

TEST(Http1Connection, MayBeGivenUpWhileItUnpacks) {
  Exchange exchange;
  exchange.answer_packed(gzip(std::string(std::size_t{4} << 20, 'x')));
  while (!exchange.unfinished()) exchange.turn();
  exchange.give_up();
  exchange.turn();
  EXPECT_EQ(exchange.outcome, "");
  EXPECT_FALSE(exchange.open());
}

TEST(Http1Connection, ReadsOnWhenTlsHasWrittenWhatItHadTo) {
  Exchange exchange{true};
  const std::string junk(65536, 'j');
  while (::send(exchange.socket, junk.data(), junk.size(), MSG_NOSIGNAL) > 0) {
  }
  exchange.turn();
  exchange.answer(plain_answer(500));
  exchange.turn();
  EXPECT_EQ(exchange.outcome, "");
  std::string drained(65536, '\0');
  while (::recv(exchange.peer, drained.data(), drained.size(), 0) > 0) {
  }
  for (int turns = 0; exchange.outcome.empty() && turns < 100; ++turns) exchange.turn();
  EXPECT_EQ(exchange.outcome, "200 500 bytes");
}

}  // namespace
}  // namespace pepe
