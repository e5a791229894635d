#include "engine/http2_connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "support/gzip.h"
#include "unit/engine/http2_bench.h"

namespace pepe {
namespace {

TEST(Http2Connection, SendsTheFieldsOfATargetInLowerCase) {
  Http2Bench bench;
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
  Http2Bench bench;
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
  Http2Bench bench;
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
  Http2Bench bench;
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
  Http2Bench bench;
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

TEST(Http2Connection, SendsABodyThatIsLargerThanTheWindows) {
  Http2Bench bench;
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
  Http2Bench bench{100, {.h2c = true}, 10};
  bench.get();
  Http2Peer& peer = bench.connect_and_run();
  peer.answer(1, {{":status", "200"}}, std::string(20'000'000, 'x'));
  bench.run();
  ASSERT_EQ(bench.outcomes.size(), 1U);
  EXPECT_EQ(bench.outcomes[0].body, std::string(10, 'x'));
}

TEST(Http2Connection, ResetsTheStreamOfAHitThatGivesUp) {
  Http2Bench bench;
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

TEST(Http2Connection, TakesAHeadOfManyFrames) {
  Http2Bench bench;
  bench.get();
  Http2Peer& peer = bench.connect_and_run();
  Http2Peer::Fields fields{{":status", "200"}};
  for (int i = 0; i < 6; ++i) fields.emplace_back("x-" + std::to_string(i), std::string(10'000, 'v'));
  peer.answer(1, fields, "ok");
  bench.run();
  ASSERT_EQ(bench.outcomes.size(), 1U);
  EXPECT_EQ(bench.outcomes[0].body, "ok");
  EXPECT_EQ(bench.headers.size(), 6 * (std::string{"X-0=;"}.size() + 10'000));
}

TEST(Http2Connection, SendsAHeadOfManyFrames) {
  Http2Bench bench;
  const std::string value(50'000, '~');  // which Huffman's code makes no shorter
  bench.send({"GET", "http://h/", {{"X-Large", value}}, nullptr});
  const Http2Peer& peer = bench.connect_and_run();
  EXPECT_TRUE(peer.requests.at(1).field("x-large") == value);
  EXPECT_TRUE(peer.requests.at(1).whole);
}

TEST(Http2Connection, EndsAHitWhoseHeadersAreTooLargeToBeSent) {
  Http2Bench bench;
  bench.send({"GET", "http://h/", {{"X-Large", std::string(1'100'000, 'x')}}, nullptr});
  bench.connect_and_run();
  ASSERT_EQ(bench.outcomes.size(), 1U);
  EXPECT_EQ(bench.outcomes[0].error, "http2: the request's headers are too large");
  bench.get();
  bench.run();
  bench.peers[0]->answer(3, {{":status", "204"}}, "");
  bench.run();
  EXPECT_EQ(bench.outcomes.size(), 2U);
}

// The same target again and again, others in between, and a table that the server makes smaller: whatever is kept of a
// request's bytes, the server reads the same fields.
TEST(Http2Connection, SendsTheSameFieldsHoweverTheyAreWritten) {
  Http2Bench bench;
  Hit& a = bench.send({"GET", "http://h/a", {{"X-A", "1"}}, nullptr});
  Hit& b = bench.send({"GET", "http://h/b", {{"X-B", std::string(3000, 'b')}}, nullptr});
  Http2Peer& peer = bench.connect_and_run();
  std::int32_t stream = 5;
  for (const std::uint32_t table : {4096U, 4096U, 100U, 0U, 4096U}) {
    peer.allow_table(table);
    bench.run();
    for (Hit* const hit : {&a, &a, &a, &b, &a, &b, &b}) {
      bench.send_again(*hit->target);
      bench.run();
      const PeerRequest& sent = peer.requests.at(stream);
      EXPECT_EQ(sent.field(":path"), hit == &a ? "/a" : "/b");
      EXPECT_EQ(sent.field("x-a"), hit == &a ? "1" : "");
      EXPECT_EQ(sent.field("x-b").size(), hit == &a ? 0U : 3000U);
      EXPECT_EQ(sent.field("x-vegeta-seq"), std::to_string(stream / 2));
      stream += 2;
    }
  }
}

// The server's table changes in between, so that the same bytes do not mean the same.
TEST(Http2Connection, ReadsTheHeadsThatAreMeantHoweverTheyRepeat) {
  Http2Bench bench;
  Hit& first = bench.send({"GET", "http://h/", {}, nullptr});
  Http2Peer& peer = bench.connect_and_run();
  std::int32_t stream = 1;
  for (const char* const value : {"a", "a", "a", "b", "a", "b", "b", "c", "a"}) {
    if (stream > 1) bench.send_again(*first.target);
    bench.run();
    bench.headers.clear();
    peer.answer(stream, {{":status", "200"}, {"x-a", value}, {"date", value}}, value);
    bench.run();
    if (!bench.outcomes.back().known) {
      EXPECT_EQ(bench.headers, std::string{"X-A="} + value + ";Date=" + value + ";");
    }
    stream += 2;
  }
  EXPECT_EQ(bench.outcomes.size(), 9U);
}

TEST(Http2Connection, WaitsForWindowsThatOpenLate) {
  Http2Bench bench;
  const auto body = std::make_shared<const std::string>(200'000, 'x');
  bench.send({"POST", "http://h/", {}, body});
  bench.connect();
  Http2Peer& peer = *bench.peers.back();
  peer.allow_window(0);
  bench.run();
  bench.send({"POST", "http://h/", {}, body});
  bench.run();
  EXPECT_LT(peer.requests.at(1).body.size(), body->size());
  EXPECT_EQ(peer.requests.at(3).body, "");
  bench.get();  // which needs no window
  bench.run();
  EXPECT_TRUE(peer.requests.at(5).whole);
  peer.allow_window(10);
  bench.run();
  peer.allow_window(1'000'000);
  bench.run();
  EXPECT_TRUE(peer.requests.at(1).body == *body);
  EXPECT_TRUE(peer.requests.at(3).body == *body);
}

TEST(Http2Connection, SendsNothingWhileTheServerAllowsNoStream) {
  Http2Bench bench;
  bench.get();
  Http2Peer& peer = bench.connect_and_run();
  peer.allow_streams(0);
  bench.run();
  bench.get();
  bench.run();
  EXPECT_EQ(peer.requests.size(), 1U);
  EXPECT_EQ(bench.dials(), 1U);
  peer.answer(1, {{":status", "200"}}, "ok");
  bench.run();
  peer.allow_streams(5);
  bench.run();
  EXPECT_EQ(peer.requests.size(), 2U);
  EXPECT_EQ(bench.dials(), 0U);
}

TEST(Http2Connection, AnswersAPing) {
  Http2Bench bench;
  bench.get();
  Http2Peer& peer = bench.connect_and_run();
  peer.ping();
  bench.run();
  EXPECT_EQ(peer.pongs, 1U);
}

}  // namespace
}  // namespace pepe
