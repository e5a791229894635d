// The part of a schedule that is a run's own, and the warm-up before it.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <string>
#include <vector>

#include "pepe/engine/attack.h"
#include "support/list_targeter.h"
#include "support/string_results.h"
#include "support/test_server.h"

namespace pepe {
namespace {

using namespace std::chrono_literals;

std::vector<Target> numbered_targets(const TestServer& server, int count) {
  std::vector<Target> targets;
  for (int i = 0; i < count; ++i) targets.push_back({"GET", server.url("/" + std::to_string(i)), {}, nullptr});
  return targets;
}

struct HitSent {
  std::uint64_t seq;
  std::string path;
  Nanos ended;  ///< Since 1970.
};

struct Ran {
  AttackSummary summary;
  std::vector<HitSent> hits;
};

Ran run_attack(const AttackOptions& options, std::vector<Target> targets) {
  ListTargeter targeter{std::move(targets)};
  const auto pacer = make_constant_pacer(options.rate);
  StringSink sink;
  auto summary = attack(options, targeter, *pacer, sink, {});
  EXPECT_TRUE(summary) << summary.error().text();
  Ran run{*std::move(summary), {}};
  auto reader = open_results(input_of(sink.bytes), {}, {});
  EXPECT_TRUE(reader);
  while (const Result* const hit = *(*reader)->next()) {
    const std::string url{hit->url};
    run.hits.push_back({hit->seq, url.substr(url.rfind('/')), Nanos{hit->timestamp.unix_nanos} + hit->latency});
  }
  return run;
}

TEST(Shards, SendTheWholeScheduleBetweenThem) {
  for (const bool lazy : {false, true}) {
    SCOPED_TRACE(lazy);
    TestServer server;
    std::set<std::uint64_t> sent;
    for (std::uint64_t index = 0; index < 3; ++index) {
      const Ran run =
          run_attack({.rate = {200, 1s}, .duration = 100ms, .shard = {index, 3}, .lazy = lazy, .threads = 2},
                     numbered_targets(server, lazy ? 20 : 7));
      EXPECT_EQ(run.summary.facts.missed, 0U);
      EXPECT_EQ(run.summary.facts.sent, run.hits.size());
      EXPECT_DOUBLE_EQ(run.summary.facts.rate.per_second(), 200.0 / 3);
      for (const HitSent& hit : run.hits) {
        EXPECT_TRUE(sent.insert(hit.seq).second) << hit.seq;
        EXPECT_EQ(hit.path, "/" + std::to_string(hit.seq % (lazy ? 20 : 7)));
      }
    }
    EXPECT_EQ(sent.size(), 20U);
    EXPECT_EQ(*sent.rbegin(), 19U);
    EXPECT_EQ(server.requests().size(), 20U);
  }
}

// A list that is read to its end before the first hit is due says nothing more that could wake who waits for it.
TEST(Shards, OfALazyListSendTheirFirstHitWhenItIsDue) {
  TestServer server;
  const Ran run =
      run_attack({.rate = {20, 1s}, .duration = 10s, .shard = {1, 2}, .lazy = true}, numbered_targets(server, 2));
  EXPECT_EQ(run.hits.size(), 1U);
  EXPECT_LT(run.summary.facts.worst_lag, 5s);
}

TEST(Shards, MissOnlyWhatIsTheirOwn) {
  TestServer server{[](const TestRequest&) { return TestAnswer{.delay = 200ms}; }};
  const Ran run = run_attack({.rate = {100, 1s}, .duration = 100ms, .shard = {1, 2}, .max_workers = 1},
                             numbered_targets(server, 1));
  EXPECT_EQ(run.summary.facts.sent + run.summary.facts.missed, 5U);
}

TEST(WarmUp, HasNoResultsAndNoFigures) {
  for (const Rate rate : {Rate{200, 1s}, Rate{0, 1s}}) {
    SCOPED_TRACE(rate.hits);
    TestServer server{[](const TestRequest&) { return TestAnswer{.delay = 1ms}; }};
    const Ran run =
        run_attack({.rate = rate, .duration = 100ms, .warmup = 500ms, .max_workers = 4}, numbered_targets(server, 1));
    EXPECT_EQ(run.summary.facts.sent, run.hits.size());
    EXPECT_EQ(run.summary.failed, 0U);
    EXPECT_GT(server.requests().size(), run.hits.size());
    if (rate.unpaced()) continue;
    EXPECT_EQ(run.hits.size() + run.summary.facts.missed, 20U);
    EXPECT_LE(server.requests().size(), 120U);
  }
}

TEST(WarmUp, FailsWithoutAResult) {
  TestServer server{[](const TestRequest&) { return TestAnswer{.drop = true}; }};
  const Ran run = run_attack({.rate = {100, 1s}, .duration = 1ns, .warmup = 100ms}, numbered_targets(server, 1));
  EXPECT_EQ(run.hits.size(), 1U);
  EXPECT_EQ(run.summary.facts.sent, 1U);
  EXPECT_EQ(run.summary.failed, 1U);
}

TEST(WarmUp, DoesNotLengthenTheRunByItsLateAnswers) {
  std::atomic<bool> first{true};
  TestServer server{[&first](const TestRequest&) { return TestAnswer{.delay = first.exchange(false) ? 600ms : 0ms}; }};
  const Ran run = run_attack({.rate = {20, 1s}, .duration = 100ms, .warmup = 100ms}, numbered_targets(server, 1));
  ASSERT_FALSE(run.hits.empty());
  Nanos last{0};
  for (const HitSent& hit : run.hits) last = std::max(last, hit.ended);
  EXPECT_EQ(run.summary.facts.elapsed, last - Nanos{run.summary.facts.start.unix_nanos});
}

TEST(WarmUp, LeavesItsConnectionsToTheRun) {
  TestServer server;
  const Ran run = run_attack({.rate = {100, 1s}, .duration = 100ms, .warmup = 500ms, .max_connections = 1},
                             numbered_targets(server, 1));
  EXPECT_EQ(run.hits.size() + run.summary.facts.missed, 10U);
  EXPECT_EQ(server.connections(), 1U);
}

// Three hits take all of it; those behind them would make the run's own late.
TEST(WarmUp, LeavesNothingToTheRunThatItWasTooSlowFor) {
  std::atomic<int> answered{0};
  TestServer server{[&answered](const TestRequest&) { return TestAnswer{.delay = answered++ < 3 ? 100ms : 0ms}; }};
  const Ran run = run_attack({.rate = {100, 1s}, .duration = 100ms, .warmup = 250ms, .max_workers = 1},
                             numbered_targets(server, 1));
  EXPECT_EQ(run.summary.facts.sent + run.summary.facts.missed, 10U);
  EXPECT_LE(server.requests().size(), 3U + 10U);
}

TEST(WarmUp, IsSharedToo) {
  TestServer server;
  const Ran run =
      run_attack({.rate = {100, 1s}, .duration = 100ms, .warmup = 500ms, .shard = {0, 2}}, numbered_targets(server, 1));
  EXPECT_EQ(run.hits.size(), 5U);
  EXPECT_GT(server.requests().size(), 5U);
  EXPECT_LE(server.requests().size(), 30U);
}

}  // namespace
}  // namespace pepe
