// Which connections an HTTP/2 origin gets, and which of them a hit goes over.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "unit/engine/http2_bench.h"

namespace pepe {
namespace {

using testing::HasSubstr;

TEST(Http2Dials, CarriesOneHitUntilTheServerSaysHowManyItMay) {
  Http2Bench bench{3};
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
TEST(Http2Dials, TakesOfTheFirstDialsWhatTheServersLimitAsksFor) {
  struct Case {
    std::uint32_t streams;
    std::size_t connections;
  };
  for (const Case row : {Case{1, 64}, Case{3, 22}, Case{100, 1}}) {
    for (const std::size_t at_first : {1U, 5U, 64U}) {
      SCOPED_TRACE(testing::Message{} << row.streams << " streams, " << at_first << " dials end at first");
      Http2Bench bench{row.streams, {}};
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

TEST(Http2Dials, GoesOnWithADialThatWasKeptBackWhenTheFirstEndsUnsettled) {
  Http2Bench bench{1, {}};
  for (int i = 0; i < 3; ++i) bench.get();
  bench.connect();
  bench.peers.front()->hang_up();
  bench.run();
  ASSERT_EQ(bench.outcomes.size(), 1U);
  EXPECT_EQ(bench.outcomes[0].error, "EOF");
  EXPECT_EQ(bench.peers[1]->requests.size() + bench.peers[2]->requests.size(), 2U);
  EXPECT_EQ(bench.dials(), 0U);
}

TEST(Http2Dials, SendsAgainWhatTheServerSaysItHasNotLookedAt) {
  Http2Bench bench;
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

TEST(Http2Dials, SendsABurstAgainUntilConnectionsOfFewHitsHaveServedIt) {
  Http2Bench bench;
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
  for (const HitOutcome& outcome : bench.outcomes) EXPECT_TRUE(outcome.code == 204 || outcome.known) << outcome.error;
}

TEST(Http2Dials, TakesAHitOffThatIsRefusedTooOften) {
  Http2Bench bench;
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

TEST(Http2Dials, UsesAConnectionPerHitWithoutKeepalive) {
  Http2Bench bench{100, {.keepalive = false, .h2c = true}};
  for (int i = 0; i < 2; ++i) bench.send({"GET", "http://h/", {}, nullptr}, false);
  EXPECT_EQ(bench.dials(), 2U);
  bench.connect_and_run();
  ASSERT_EQ(bench.peers.size(), 2U);
  for (const auto& peer : bench.peers) peer->answer(1, {{":status", "200"}}, "ok");
  bench.run();
  EXPECT_EQ(bench.outcomes.size(), 2U);
  EXPECT_EQ(bench.recycled, 2U);
}

TEST(Http2Dials, EndsAsManyHitsAsAFailedDialWasFor) {
  Http2Bench bench;
  for (int i = 0; i < 5; ++i) bench.get();
  ASSERT_EQ(bench.dials(), 1U);
  bench.fail_dials("refused");
  EXPECT_EQ(bench.outcomes.size(), 5U);
  EXPECT_EQ(bench.dials(), 0U);
}

}  // namespace
}  // namespace pepe
