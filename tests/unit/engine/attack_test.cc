#include "pepe/engine/attack.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <future>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "support/gzip.h"
#include "support/list_targeter.h"
#include "support/string_results.h"
#include "support/test_server.h"

namespace pepe {
namespace {

using namespace std::chrono_literals;

struct Row {
  std::uint64_t seq;
  int code;
  std::string error;
  std::string url;
  std::string body;
  Nanos latency;
  bool reused;
};

struct AttackRun {
  AttackSummary summary;
  std::vector<Row> rows;
};

AttackRun run_attack(AttackOptions options, std::vector<Target> targets) {
  ListTargeter targeter{std::move(targets)};
  const auto pacer = make_constant_pacer(options.rate);
  StringSink sink;
  auto summary = attack(options, targeter, *pacer, sink, {});
  EXPECT_TRUE(summary) << summary.error().text();
  AttackRun run{*std::move(summary), {}};
  auto reader = open_results(input_of(sink.bytes), {}, {});
  EXPECT_TRUE(reader);
  for (;;) {
    const auto result = (*reader)->next();
    EXPECT_TRUE(result);
    if (*result == nullptr) return run;
    const Result& hit = **result;
    run.rows.push_back({hit.seq, hit.code, std::string{hit.error}, std::string{hit.url},
                        std::string{hit.body.value_or("")}, hit.latency, hit.reused});
  }
}

Target get(std::string url) { return {"GET", std::move(url), {}, nullptr}; }

TEST(Attack, SendsExactlyTheHitsOfItsSchedule) {
  TestServer server;
  const AttackRun run = run_attack({.rate = {100, 1s}, .duration = 300ms}, {get(server.url())});
  EXPECT_EQ(run.summary.facts.sent, 30U);
  EXPECT_EQ(run.summary.facts.missed, 0U);
  EXPECT_EQ(server.requests().size(), 30U);
  std::vector<bool> seen(30);
  for (const Row& row : run.rows) {
    EXPECT_EQ(row.code, 200);
    EXPECT_EQ(row.body, "ok");
    ASSERT_LT(row.seq, 30U);
    EXPECT_FALSE(seen[row.seq]);
    seen[row.seq] = true;
  }
  EXPECT_EQ(run.rows.size(), 30U);
}

// At such a rate the thread never sleeps: what it burns between hits is no work, but the hits themselves are.
TEST(Attack, CountsSendingAsWorkWhereItSpinsBetweenHits) {
  TestServer server;
  const AttackRun run = run_attack({.rate = {20'000, 1s}, .duration = 100ms, .threads = 1}, {get(server.url())});
  ASSERT_EQ(run.summary.facts.threads.size(), 1U);
  EXPECT_GT(run.summary.facts.threads[0].busy_share, 0.0);
}

/// A hit every ten microseconds, which leaves no time to sleep, until `answered` or for as many hits as are too many.
class DensePacer final : public Pacer {
 public:
  static constexpr std::uint64_t kTooMany = 100'000;

  explicit DensePacer(const std::atomic<bool>& answered) : answered_{answered} {}
  std::optional<Nanos> due(std::uint64_t n) const noexcept override {
    if (answered_ || n == kTooMany) return std::nullopt;
    return n * 10us;
  }
  std::uint64_t hits_before(Nanos) const noexcept override { return kTooMany; }

 private:
  const std::atomic<bool>& answered_;
};

TEST(Attack, ConnectsAlsoWhereItNeverSleeps) {
  std::atomic<bool> answered{false};
  TestServer server{[&](const TestRequest&) {
    answered = true;
    return TestAnswer{};
  }};
  ListTargeter targeter{{get(server.url())}};
  StringSink sink;
  const auto summary = attack({.threads = 1}, targeter, DensePacer{answered}, sink, {});
  ASSERT_TRUE(summary);
  EXPECT_LT(summary->facts.sent, DensePacer::kTooMany);
}

TEST(Attack, TakesTargetsInTurnByHitNumberOverAllThreads) {
  TestServer server;
  const AttackRun run = run_attack({.rate = {300, 1s}, .duration = 200ms, .threads = 2},
                                   {get(server.url("/0")), get(server.url("/1")), get(server.url("/2"))});
  ASSERT_EQ(run.rows.size(), 60U);
  for (const Row& row : run.rows) EXPECT_EQ(row.url.back(), static_cast<char>('0' + row.seq % 3));
}

TEST(Attack, KeepsWithinMaxWorkersAndCountsWhatItMissed) {
  std::atomic<int> open{0};
  std::atomic<int> most{0};
  TestServer server{[&](const TestRequest&) {
    most = std::max(most.load(), ++open);
    std::this_thread::sleep_for(100ms);
    --open;
    return TestAnswer{};
  }};
  const AttackRun run = run_attack({.rate = {100, 1s}, .duration = 500ms, .max_workers = 2}, {get(server.url())});
  EXPECT_LE(most, 2);
  EXPECT_EQ(run.summary.facts.sent, run.rows.size());
  EXPECT_EQ(run.summary.facts.sent + run.summary.facts.missed, 50U);
  EXPECT_GT(run.summary.facts.missed, 30U);
  EXPECT_TRUE(run.summary.facts.limited);
}

TEST(Attack, ClosedLoopHoldsItsConcurrencyAndStopsAtTheDuration) {
  TestServer server{[](const TestRequest&) { return TestAnswer{.delay = 20ms}; }};
  const AttackRun run = run_attack({.rate = {0, 1s}, .duration = 300ms, .max_workers = 4}, {get(server.url())});
  EXPECT_GE(run.rows.size(), 8U);
  EXPECT_LE(run.rows.size(), 64U);
  EXPECT_LE(server.connections(), 4U);
  EXPECT_EQ(run.summary.facts.missed, 0U);
}

TEST(Attack, RetriesASafeHitOnceWhenAReusedConnectionWasClosed) {
  std::atomic<int> count{0};
  // Every second request finds its connection closed without a word.
  TestServer server{[&](const TestRequest&) { return ++count % 2 == 0 ? TestAnswer{.drop = true} : TestAnswer{}; }};
  const AttackRun run = run_attack({.rate = {20, 1s}, .duration = 300ms, .max_workers = 1}, {get(server.url())});
  ASSERT_EQ(run.rows.size(), 6U);
  for (const Row& row : run.rows) EXPECT_EQ(row.code, 200) << row.error;
  EXPECT_GT(server.requests().size(), 6U);
}

TEST(Attack, NeverSendsAPostTwice) {
  std::atomic<int> count{0};
  TestServer server{[&](const TestRequest&) { return ++count % 2 == 0 ? TestAnswer{.drop = true} : TestAnswer{}; }};
  const AttackRun run =
      run_attack({.rate = {20, 1s}, .duration = 300ms, .max_workers = 1}, {{"POST", server.url(), {}, nullptr}});
  ASSERT_EQ(run.rows.size(), 6U);
  EXPECT_EQ(server.requests().size(), 6U);
  EXPECT_EQ(run.summary.failed, 3U);
  for (const Row& row : run.rows) {
    if (row.code == 0) {
      EXPECT_EQ(row.error, "Post \"" + server.url() + "\": EOF");
    }
  }
}

TEST(Attack, EndsAHitAtItsTimeoutAndSaysSo) {
  TestServer server{[](const TestRequest&) { return TestAnswer{.delay = 600ms}; }};
  const AttackRun run = run_attack({.rate = {20, 1s}, .duration = 100ms, .timeout = 100ms}, {get(server.url())});
  ASSERT_EQ(run.rows.size(), 2U);
  for (const Row& row : run.rows) {
    EXPECT_EQ(row.code, 0);
    EXPECT_EQ(row.error, "Get \"" + server.url() +
                             "\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)");
    EXPECT_GE(row.latency, 100ms);
    EXPECT_LT(row.latency, 500ms);
  }
}

TEST(Attack, KeepsToTheTimeoutAlsoWhileABodyIsBeingUnpacked) {
  const std::string member = gzip(std::string(std::size_t{16} << 20, '\0'));
  std::string packed;
  for (int i = 0; i < 56; ++i) packed += member;
  TestServer server{
      [&](const TestRequest&) { return TestAnswer{.body = packed, .headers = {"Content-Encoding: gzip"}}; }};
  const AttackRun run =
      run_attack({.rate = {10, 1s}, .duration = 100ms, .timeout = 100ms, .max_body = 0}, {get(server.url())});
  ASSERT_EQ(run.rows.size(), 1U);
  EXPECT_EQ(run.rows[0].code, 0);
  // On a busy machine the head may be late already.
  EXPECT_NE(run.rows[0].error.find("context deadline exceeded"), std::string::npos) << run.rows[0].error;
}

/// Answers each request with a head, and a moment later with its body.
class SplitServer {
 public:
  SplitServer() : listener_{::socket(AF_INET, SOCK_STREAM, 0)} {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(listener_, 8), 0);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/";
    thread_ = std::thread{[this] { serve(); }};
  }
  ~SplitServer() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }
  const std::string& url() const { return url_; }

 private:
  // One connection: what it serves asks for one hit at a time.
  void serve() {
    const int fd = ::accept(listener_, nullptr, nullptr);
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    std::array<char, 4096> buffer;
    const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n";
    while (::recv(fd, buffer.data(), buffer.size(), 0) > 0) {
      ::send(fd, head.data(), head.size(), MSG_NOSIGNAL);
      std::this_thread::sleep_for(3ms);
      ::send(fd, "ok", 2, MSG_NOSIGNAL);
    }
    ::close(fd);
  }

  int listener_;
  std::string url_;
  std::thread thread_;
};

TEST(Attack, CountsAnAnswerInTwoPiecesAsTheSuccessThatItIs) {
  SplitServer server;
  const AttackRun run = run_attack({.rate = {50, 1s}, .duration = 200ms, .max_workers = 1}, {get(server.url())});
  ASSERT_EQ(run.rows.size(), 10U);
  EXPECT_EQ(run.summary.failed, 0U);
  for (const Row& row : run.rows) {
    EXPECT_EQ(row.code, 200);
    EXPECT_EQ(row.body, "ok");
    EXPECT_EQ(row.error, "");
  }
}

TEST(Attack, RecordsAFaultyTargetHitByHit) {
  const AttackRun run =
      run_attack({.rate = {50, 1s}, .duration = 100ms}, {{"G T", "http://127.0.0.1:1/", {}, nullptr}});
  ASSERT_EQ(run.rows.size(), 5U);
  for (const Row& row : run.rows) EXPECT_EQ(row.error, "net/http: invalid method \"G T\"");
}

/// A list that gives nothing until it is told to end.
class SilentTargeter final : public Targeter {
 public:
  Expected<std::optional<Target>> next() override {
    told_.get_future().wait();
    return std::optional<Target>{};
  }
  void end() { told_.set_value(); }

 private:
  std::promise<void> told_;
};

AttackSummary run_lazily(AttackOptions options, Targeter& targeter, const AttackEvents& events = {}) {
  options.lazy = true;
  const auto pacer = make_constant_pacer(options.rate);
  StringSink sink;
  auto summary = attack(options, targeter, *pacer, sink, events);
  EXPECT_TRUE(summary) << summary.error().text();
  return *std::move(summary);
}

TEST(Attack, BeginsWithTheFirstTargetOfALazyList) {
  TestServer server;
  for (int i = 0; i < 20; ++i) {
    ListTargeter targeter{{get(server.url()), get(server.url())}};
    EXPECT_EQ(run_lazily({.rate = {1, 1s}, .duration = 1ns}, targeter).facts.sent, 1U);
  }
}

TEST(Attack, CountsAsMissedWhatALazyListHeldUp) {
  for (const Rate rate : {Rate{100, 1s}, Rate{0, 1s}}) {
    SilentTargeter targeter;
    AttackEvents events;
    events.cancel_targets = [&targeter] { targeter.end(); };
    const AttackSummary summary = run_lazily({.rate = rate, .duration = 50ms, .max_workers = 1000}, targeter, events);
    EXPECT_EQ(summary.facts.sent, 0U);
    EXPECT_EQ(summary.facts.missed, rate.unpaced() ? 0U : 5U);
    EXPECT_TRUE(summary.out_of_targets);
    EXPECT_EQ(summary.facts.limit, "the list of targets came too slowly");
    EXPECT_EQ(summary.targets_error, "");
  }
}

TEST(Attack, SaysThatALazyListIsEmpty) {
  ListTargeter targeter{{}};
  const AttackSummary summary = run_lazily({.rate = {100, 1s}, .duration = 1s}, targeter);
  EXPECT_EQ(summary.targets_error, "no targets to attack");
  EXPECT_FALSE(summary.out_of_targets);
}

TEST(Attack, EndsWithTheErrorOfItsSink) {
  struct FullSink final : ChunkSink {
    Expected<void> write(std::string_view) override { return Error{"no space left"}; }
  };
  TestServer server;
  ListTargeter targeter{{get(server.url())}};
  const AttackOptions options{.rate = {50, 1s}, .duration = 20s};
  const auto pacer = make_constant_pacer(options.rate);
  FullSink sink;
  const auto summary = attack(options, targeter, *pacer, sink, {});
  ASSERT_FALSE(summary);
  EXPECT_EQ(summary.error().text(), "no space left");
}

}  // namespace
}  // namespace pepe
