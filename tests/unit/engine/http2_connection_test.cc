#include "engine/http2_connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/pool.h"
#include "support/gzip.h"
#include "unit/engine/http2_peer.h"

namespace pepe {
namespace {

using testing::HasSubstr;

struct Outcome {
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
class Bench final : public ConnectionOwner, public PoolOwner {
 public:
  explicit Bench(std::uint32_t streams = 100, PoolLimits limits = {.h2c = true}, std::uint64_t keep_limit = UINT64_MAX)
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
  std::vector<Outcome> outcomes;
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

TEST(Http2Connection, SendsTheFieldsOfATargetInLowerCase) {
  Bench bench;
  bench.send({"PUT",
              "http://u:p@h:81/a?b#c",
              {{"X-B", "1"}, {"Connection", "keep-alive"}, {"TE", "gzip"}, {"Host", "v.test"}, {"host", "w"}},
              std::make_shared<const std::string>("hey")});
  const Http2Peer& peer = bench.connect_and_run();
  ASSERT_EQ(peer.requests.size(), 1U);
  std::string sent;
  for (const auto& [name, value] : peer.requests.at(1).fields) sent += name + ": " + value + "\n";
  EXPECT_EQ(sent,
            ":method: PUT\n:scheme: http\n:authority: v.test\n:path: /a?b\nauthorization: Basic dTpw\nx-b: 1\n"
            "user-agent: pepe/test\ncontent-length: 3\naccept-encoding: gzip\nx-vegeta-seq: 0\n");
  EXPECT_EQ(peer.requests.at(1).body, "hey");
}

TEST(Http2Connection, ReadsAnAnswerWithInterimOnesAndTrailers) {
  Bench bench;
  bench.get();
  Http2Peer& peer = bench.connect_and_run();
  peer.interim(1, {{":status", "103"}, {"link", "early"}});
  peer.answer(1, {{":status", "404"}, {"etag", "x"}, {"x-a", "1"}}, "body", {{"x-trailer", "t"}});
  bench.run();
  ASSERT_EQ(bench.outcomes.size(), 1U);
  EXPECT_EQ(bench.outcomes[0].code, 404);
  EXPECT_EQ(bench.outcomes[0].error, "404 Not Found");
  EXPECT_EQ(bench.outcomes[0].body, "body");
  EXPECT_EQ(bench.headers, "Etag=x;X-A=1;");
  EXPECT_FALSE(bench.outcomes[0].reused);
}

TEST(Http2Connection, LetsOthersPassAnAnswerThatIsStillBeingUnpacked) {
  constexpr std::size_t kSize = std::size_t{4} << 20;
  Bench bench;
  bench.get();
  bench.get();
  Http2Peer& peer = bench.connect_and_run();
  peer.answer(1, {{":status", "200"}, {"content-encoding", "gzip"}}, gzip(std::string(kSize, 'x')));
  peer.answer(3, {{":status", "200"}}, "short");
  bench.run();
  ASSERT_EQ(bench.outcomes.size(), 2U);
  EXPECT_EQ(bench.outcomes[0].seq, 1U);
  EXPECT_EQ(bench.outcomes[0].body, "short");
  EXPECT_EQ(bench.outcomes[1].seq, 0U);
  EXPECT_EQ(bench.outcomes[1].code, 200);
  EXPECT_EQ(bench.outcomes[1].body.size(), kSize);
}

TEST(Http2Connection, TakesAHitOffWhoseAnswerIsBeingUnpacked) {
  Bench bench;
  Hit& hit = bench.send({"GET", "http://h/p", {}, nullptr});
  Http2Peer& peer = bench.connect_and_run();
  peer.answer(1, {{":status", "200"}, {"content-encoding", "gzip"}}, gzip(std::string(std::size_t{4} << 20, 'x')));
  bench.run_until_unfinished();
  bench.give_up(hit);
  ASSERT_NE(bench.abandoned.response, nullptr);
  EXPECT_TRUE(bench.abandoned.response->busy());
  bench.get();
  bench.run();
  peer.answer(3, {{":status", "200"}}, "next");
  bench.run();
  ASSERT_EQ(bench.outcomes.size(), 1U);
  EXPECT_EQ(bench.outcomes[0].body, "next");
  EXPECT_TRUE(bench.outcomes[0].reused);
}

TEST(Http2Connection, KnowsTheAnswerThatATargetGaveLastTime) {
  Bench bench;
  Hit& first = bench.send({"GET", "http://h/", {}, nullptr});
  Http2Peer& peer = bench.connect_and_run();
  std::int32_t stream = 1;
  for (const char* length : {"a", "a", "b"}) {
    if (stream > 1) bench.send_again(*first.target);
    bench.run();
    peer.answer(stream, {{":status", "200"}, {"x-a", length}}, "");
    bench.run();
    stream += 2;
  }
  ASSERT_EQ(bench.outcomes.size(), 3U);
  EXPECT_FALSE(bench.outcomes[0].known);
  EXPECT_TRUE(bench.outcomes[1].known);
  EXPECT_TRUE(bench.outcomes[1].reused);
  EXPECT_FALSE(bench.outcomes[2].known);
}

TEST(Http2Connection, CarriesOneHitUntilTheServerSaysHowManyItMay) {
  Bench bench{3};
  for (int i = 0; i < 8; ++i) bench.get();
  EXPECT_EQ(bench.dials(), 1U);
  Http2Peer& first = bench.connect_and_run();
  EXPECT_EQ(first.requests.size(), 3U);
  EXPECT_EQ(bench.dials(), 2U);
  bench.connect();
  bench.run();
  ASSERT_EQ(bench.peers.size(), 3U);
  for (int round = 0; round < 4; ++round) {
    for (const auto& peer : bench.peers) {
      for (const auto& [stream, request] : peer->requests) {
        if (request.whole) peer->answer(stream, {{":status", "204"}}, "");
      }
    }
    bench.run();
  }
  EXPECT_EQ(bench.outcomes.size(), 8U);
  for (const auto& peer : bench.peers) EXPECT_LE(peer->most_at_once, 3U);
  EXPECT_EQ(bench.dials(), 0U);
}

// Before the first connection nothing says that the server speaks HTTP/2: it is dialled for each hit.
TEST(Http2Connection, TakesOfTheFirstDialsWhatTheServersLimitAsksFor) {
  struct Case {
    std::uint32_t streams;
    std::size_t connections;
  };
  for (const Case row : {Case{1, 64}, Case{3, 22}, Case{100, 1}}) {
    for (const std::size_t at_first : {1, 5, 64}) {
      SCOPED_TRACE(testing::Message{} << row.streams << " streams, " << at_first << " dials end at first");
      Bench bench{row.streams, {}};
      for (int i = 0; i < 64; ++i) bench.get();
      ASSERT_EQ(bench.dials(), 64U);
      bench.connect(at_first);
      bench.run();
      EXPECT_EQ(bench.dials(), row.connections - std::min(row.connections, at_first));
      bench.connect();
      bench.run();
      std::size_t asked = 0;
      for (const auto& peer : bench.peers) asked += peer->requests.size();
      EXPECT_EQ(asked, 64U);
      const auto used = std::count_if(bench.peers.begin(), bench.peers.end(),
                                      [](const auto& peer) { return !peer->requests.empty(); });
      EXPECT_EQ(used, static_cast<std::ptrdiff_t>(row.connections));
      EXPECT_EQ(bench.peers.size(), std::max(row.connections, at_first));
    }
  }
}

TEST(Http2Connection, GoesOnWithADialThatWasKeptBackWhenTheFirstEndsUnsettled) {
  Bench bench{1, {}};
  for (int i = 0; i < 3; ++i) bench.get();
  bench.connect();
  bench.peers.front()->hang_up();
  bench.run();
  ASSERT_EQ(bench.outcomes.size(), 1U);
  EXPECT_EQ(bench.outcomes[0].error, "EOF");
  EXPECT_EQ(bench.peers[1]->requests.size() + bench.peers[2]->requests.size(), 2U);
  EXPECT_EQ(bench.dials(), 0U);
}

TEST(Http2Connection, SendsABodyThatIsLargerThanTheWindows) {
  Bench bench;
  const auto body = std::make_shared<const std::string>(300'000, 'x');
  bench.send({"POST", "http://h/", {}, body});
  Http2Peer& peer = bench.connect_and_run();
  EXPECT_TRUE(peer.requests.at(1).body == *body);
  peer.answer(1, {{":status", "200"}}, *body);
  bench.run();
  ASSERT_EQ(bench.outcomes.size(), 1U);
  EXPECT_TRUE(bench.outcomes[0].body == *body);
}

TEST(Http2Connection, OpensTheWindowAlsoForBytesThatAreNotKept) {
  Bench bench{100, {.h2c = true}, 10};
  bench.get();
  Http2Peer& peer = bench.connect_and_run();
  peer.answer(1, {{":status", "200"}}, std::string(20'000'000, 'x'));
  bench.run();
  ASSERT_EQ(bench.outcomes.size(), 1U);
  EXPECT_EQ(bench.outcomes[0].body, std::string(10, 'x'));
}

TEST(Http2Connection, EndsOnlyTheHitWhoseStreamIsReset) {
  Bench bench;
  bench.get();
  Http2Peer& peer = bench.connect_and_run();
  bench.get();
  bench.run();
  peer.reset(1, NGHTTP2_INTERNAL_ERROR);
  bench.run();
  ASSERT_EQ(bench.outcomes.size(), 1U);
  EXPECT_EQ(bench.outcomes[0].error, "stream error: stream ID 1; INTERNAL_ERROR; received from peer");
  EXPECT_EQ(bench.outcomes[0].breakage, Breakage::kInAnswer);
  peer.answer(3, {{":status", "200"}}, "ok");
  bench.run();
  ASSERT_EQ(bench.outcomes.size(), 2U);
  EXPECT_EQ(bench.outcomes[1].body, "ok");
}

TEST(Http2Connection, ResetsTheStreamOfAHitThatGivesUp) {
  Bench bench;
  bench.get();
  Http2Peer& peer = bench.connect_and_run();
  Hit& hit = bench.send({"GET", "http://h/", {}, nullptr});
  bench.run();
  peer.begin_answer(3, "half");
  bench.run();
  bench.give_up(hit);
  bench.run();
  ASSERT_NE(bench.abandoned.response, nullptr);
  EXPECT_EQ(bench.abandoned.response->body().bytes(), "half");
  EXPECT_EQ(peer.resets.at(3), std::uint32_t{NGHTTP2_CANCEL});
  peer.answer(1, {{":status", "200"}}, "ok");
  bench.run();
  ASSERT_EQ(bench.outcomes.size(), 1U);
  EXPECT_EQ(bench.outcomes[0].body, "ok");
}

TEST(Http2Connection, SendsAgainWhatTheServerSaysItHasNotLookedAt) {
  Bench bench;
  bench.send({"POST", "http://h/", {}, nullptr});
  Http2Peer& peer = bench.connect_and_run();
  bench.send({"POST", "http://h/", {}, nullptr});
  bench.run();
  peer.go_away(1, NGHTTP2_NO_ERROR, "");
  bench.run();
  EXPECT_TRUE(bench.outcomes.empty());
  EXPECT_EQ(bench.dials(), 1U);
  Http2Peer& second = bench.connect_and_run();
  EXPECT_EQ(second.requests.at(1).field("x-vegeta-seq"), "1");
  bench.peers[0]->answer(1, {{":status", "200"}}, "first");
  second.answer(1, {{":status", "200"}}, "second");
  bench.run();
  ASSERT_EQ(bench.outcomes.size(), 2U);
  EXPECT_EQ(bench.outcomes[0].body, "first");
  EXPECT_EQ(bench.outcomes[1].body, "second");
  EXPECT_EQ(bench.recycled, 1U);
  EXPECT_TRUE(bench.peers[0]->ended);
}

TEST(Http2Connection, SendsABurstAgainUntilConnectionsOfFewHitsHaveServedIt) {
  Bench bench;
  for (int i = 0; i < 40; ++i) bench.get();
  for (int connections = 0; connections < 40 && bench.outcomes.size() < 40; ++connections) {
    Http2Peer& peer = bench.connect_and_run();
    peer.go_away(3, NGHTTP2_NO_ERROR, "");
    for (const std::int32_t stream : {1, 3}) {
      if (peer.requests.contains(stream)) peer.answer(stream, {{":status", "204"}}, "");
    }
    bench.run();
  }
  ASSERT_EQ(bench.outcomes.size(), 40U);
  for (const Outcome& outcome : bench.outcomes) EXPECT_TRUE(outcome.code == 204 || outcome.known) << outcome.error;
}

TEST(Http2Connection, TakesAHitOffThatIsRefusedTooOften) {
  Bench bench;
  bench.get();
  Http2Peer& peer = bench.connect_and_run();
  peer.reset(1, NGHTTP2_REFUSED_STREAM);
  bench.run();
  peer.reset(3, NGHTTP2_REFUSED_STREAM);
  bench.run();
  ASSERT_EQ(bench.outcomes.size(), 1U);
  EXPECT_EQ(bench.outcomes[0].breakage, Breakage::kUnprocessed);
  EXPECT_THAT(bench.outcomes[0].error, HasSubstr("REFUSED_STREAM"));
}

TEST(Http2Connection, SaysWhatTheFarewellOfABrokenConnectionSaid) {
  Bench bench;
  bench.get();
  Http2Peer& peer = bench.connect_and_run();
  peer.begin_answer(1, "half");
  bench.run();
  peer.go_away(1, NGHTTP2_ENHANCE_YOUR_CALM, "calm\x1b down");
  peer.pump();
  peer.hang_up();
  bench.run();
  ASSERT_EQ(bench.outcomes.size(), 1U);
  EXPECT_EQ(bench.outcomes[0].error,
            "http2: server sent GOAWAY and closed the connection; LastStreamID=1, ErrCode=ENHANCE_YOUR_CALM, "
            "debug=\"calm. down\"");
}

TEST(Http2Connection, TellsAnEndBeforeTheAnswerFromOneWithin) {
  Bench bench;
  bench.get();
  Http2Peer& peer = bench.connect_and_run();
  bench.get();
  bench.run();
  peer.begin_answer(1, "half");
  bench.run();
  peer.hang_up();
  bench.run();
  ASSERT_EQ(bench.outcomes.size(), 2U);
  EXPECT_EQ(bench.outcomes[0].breakage, Breakage::kInAnswer);
  EXPECT_EQ(bench.outcomes[0].error, "unexpected EOF");
  EXPECT_EQ(bench.outcomes[1].breakage, Breakage::kBeforeAnswer);
  EXPECT_EQ(bench.outcomes[1].error, "EOF");
  EXPECT_TRUE(bench.outcomes[1].reused);
}

struct NoiseCase {
  const char* name;
  std::string bytes;
  const char* error;
};

const NoiseCase kNoiseCases[] = {
    {"Http1", "HTTP/1.1 400 Bad Request\r\n\r\n", "the server speaks HTTP/1"},
    {"ShortSettings", std::string{"\0\0\5\4\0\0\0\0\0\0\3\0\0\1", 14}, "connection error: FRAME_SIZE_ERROR"},
    {"DataOnStreamZero", std::string{"\0\0\0\4\0\0\0\0\0\0\0\3\0\0\0\0\0\0boo", 21},
     "connection error: PROTOCOL_ERROR"},
    {"UnknownIndex", std::string{"\0\0\0\4\0\0\0\0\0\0\0\3\1\5\0\0\0\1\xff\xff\x7f", 21},
     "connection error: COMPRESSION_ERROR"},
    {"FrameOverTheSizeAnnounced", std::string{"\0\0\0\4\0\0\0\0\0\0\x40\1\0\1\0\0\0\1", 18},
     "connection error: FRAME_SIZE_ERROR"},
};

TEST(Http2Connection, RefusesWhatIsNotHttp2AndSaysWhy) {
  for (const NoiseCase& row : kNoiseCases) {
    SCOPED_TRACE(row.name);
    Bench bench;
    bench.get();
    bench.connect();
    bench.peers.back()->say(row.bytes);
    bench.run();
    ASSERT_EQ(bench.outcomes.size(), 1U);
    EXPECT_THAT(bench.outcomes[0].error, HasSubstr(row.error));
    EXPECT_EQ(bench.recycled, 1U);
  }
}

TEST(Http2Connection, LimitsWhatHeadersMayUnpackTo) {
  Bench bench;
  bench.get();
  Http2Peer& peer = bench.connect_and_run();
  // One field of 3,968 bytes goes into the table, then is named 500 times over.
  const std::string block =
      std::string{"\x88\x40\x01x\x7f\x81\x1e", 7} + std::string(3968, 'a') + std::string(500, '\xbe');
  const std::string size{static_cast<char>(block.size() >> 8), static_cast<char>(block.size() & 0xFF)};
  peer.say(std::string{"\0", 1} + size + std::string{"\1\4\0\0\0\1", 6} + block);
  bench.run();
  ASSERT_EQ(bench.outcomes.size(), 1U);
  EXPECT_THAT(bench.outcomes[0].error, HasSubstr("headers exceeded 1048576 bytes"));
  EXPECT_EQ(bench.recycled, 0U);
}

TEST(Http2Connection, UsesAConnectionPerHitWithoutKeepalive) {
  Bench bench{100, {.keepalive = false, .h2c = true}};
  for (int i = 0; i < 2; ++i) bench.send({"GET", "http://h/", {}, nullptr}, false);
  EXPECT_EQ(bench.dials(), 2U);
  bench.connect_and_run();
  ASSERT_EQ(bench.peers.size(), 2U);
  for (const auto& peer : bench.peers) peer->answer(1, {{":status", "200"}}, "ok");
  bench.run();
  EXPECT_EQ(bench.outcomes.size(), 2U);
  EXPECT_EQ(bench.recycled, 2U);
}

TEST(Http2Connection, EndsAsManyHitsAsAFailedDialWasFor) {
  Bench bench;
  for (int i = 0; i < 5; ++i) bench.get();
  ASSERT_EQ(bench.dials(), 1U);
  bench.fail_dials("refused");
  EXPECT_EQ(bench.outcomes.size(), 5U);
  EXPECT_EQ(bench.dials(), 0U);
}

}  // namespace
}  // namespace pepe
