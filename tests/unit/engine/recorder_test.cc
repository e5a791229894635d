#include "engine/recorder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/request.h"
#include "support/string_results.h"

namespace pepe {
namespace {

using namespace std::chrono_literals;

/// A hit's record as it is read back.
struct Row {
  std::uint64_t seq;
  int code;
  std::string error;
  std::string body;
  std::uint64_t bytes_in;
  std::uint64_t bytes_read;
  bool reused;
  Nanos latency;
  Nanos lag;
  std::int64_t unix_nanos;
};

std::vector<Row> read_back(const std::string& chunks) {
  std::vector<Row> rows;
  auto reader = open_results(input_of(chunks), {}, {});
  EXPECT_TRUE(reader) << reader.error().text();
  if (!reader) return rows;
  for (;;) {
    const auto result = (*reader)->next();
    EXPECT_TRUE(result) << result.error().text();
    if (!result || *result == nullptr) return rows;
    const Result& hit = **result;
    rows.push_back({hit.seq, hit.code, std::string{hit.error}, std::string{hit.body.value_or("")}, hit.bytes_in,
                    hit.bytes_read, hit.reused, hit.latency, hit.lag, hit.timestamp.unix_nanos});
  }
}

/// A recorder with one target, whose hits are answered as the test says.
class Bench {
 public:
  Bench() {
    request_.method = "GET";
    request_.url = target_.url;
    state_.target = &target_;
    state_.request = &request_;
  }

  Hit hit(Nanos taken = 0ns, Nanos lag = 0ns) {
    Hit hit;
    hit.seq = next_seq_++;
    hit.target = &state_;
    hit.request = &request_;
    hit.taken = kStart + taken;
    hit.lag = lag;
    return hit;
  }
  /// An answer read from its first byte, which the target then knows.
  void answer(std::string_view status, std::string_view body, bool reused = false) {
    const Hit asked = hit(sent);
    const std::string head = fmt::format("HTTP/1.1 {}\r\nContent-Length: {}\r\n\r\n", status, body.size());
    Response response;
    response.start({.keep_limit = keep_limit, .candidate = state_.cache.body});
    std::size_t used = 0;
    EXPECT_EQ(response.feed(head + std::string{body}, used), Response::Status::kComplete);
    state_.cache.learn(head, response);
    recorder.record_answer(asked, asked.taken + 1ms, reused, response);
  }
  /// One whose head is the known one.
  void answer_with_known_head(std::string_view body, bool reused) {
    const Hit asked = hit(sent);
    Response response;
    response.start_fixed({.keep_limit = keep_limit, .candidate = state_.cache.body}, body.size());
    std::size_t used = 0;
    EXPECT_EQ(response.feed(body, used), Response::Status::kComplete);
    recorder.record_answer(asked, asked.taken + 1ms, reused, response);
  }
  void answer_known(bool reused) {
    const Hit asked = hit(sent);
    recorder.record_known(asked, asked.taken + 1ms, reused);
  }
  std::vector<Row> rows() {
    std::string chunk;
    recorder.take(chunk);
    return read_back(chunk);
  }

  /// When the next answer comes.
  Instant now() const { return kStart + sent + 1ms; }
  /// Four full intervals.
  void make_busy() {
    answer("200 OK", "body");
    for (int interval = 0; interval < 4; ++interval) {
      for (int i = 0; i < 100; ++i) answer_known(true);
      rows();
      sent += 25ms;
    }
  }

  static constexpr Instant kStart{std::chrono::hours{1}};
  Nanos sent{0};  ///< When the next hit is, after the start.
  std::uint64_t keep_limit{UINT64_MAX};
  Recorder recorder{{.run_id = 7, .worker = 0, .attack = "a", .start = {1'000'000, 0}, .start_instant = kStart}};

 private:
  const Target target_{"GET", "http://h/", {}, nullptr};
  Request request_;
  TargetState state_;
  std::uint64_t next_seq_{0};
};

TEST(Recorder, TellsWhatAHitWas) {
  Bench bench;
  const Hit hit = bench.hit(5ms, 2ms);
  bench.recorder.record_failure(hit, hit.taken + 30ms, false, "EOF", nullptr);
  const auto rows = bench.rows();
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].seq, 0U);
  EXPECT_EQ(rows[0].code, 0);
  EXPECT_EQ(rows[0].error, "EOF");
  EXPECT_EQ(rows[0].latency, 30ms);
  EXPECT_EQ(rows[0].lag, 2ms);
  EXPECT_EQ(rows[0].unix_nanos, 1'000'000 + 5'000'000);
}

struct AnswerCase {
  const char* name;
  const char* status;
  int code;
  const char* error;
};

constexpr AnswerCase kAnswerCases[] = {
    {"Success", "200 OK", 200, ""},
    {"Redirect", "302 Found", 302, ""},
    {"NotFound", "404 Not Found", 404, "404 Not Found"},
    {"OwnReason", "503 Gone Fishing", 503, "503 Gone Fishing"},
    {"NoReason", "500", 500, "500"},
};

TEST(Recorder, CallsAnAnswerAsItsStatusHasIt) {
  for (const AnswerCase& row : kAnswerCases) {
    SCOPED_TRACE(row.name);
    Bench bench;
    bench.answer(row.status, "body");
    bench.answer_known(true);
    bench.answer_with_known_head("other", true);
    const auto rows = bench.rows();
    ASSERT_EQ(rows.size(), 3U);
    for (const Row& read : rows) {
      EXPECT_EQ(read.code, row.code);
      EXPECT_EQ(read.error, row.error);
    }
    EXPECT_EQ(rows[1].body, "body");
    EXPECT_EQ(rows[2].body, "other");
  }
}

TEST(Recorder, TellsKnownAnswersOnNewAndOnUsedConnectionsApart) {
  Bench bench;
  bench.answer("200 OK", "body");
  for (const bool reused : {false, true, false, true}) bench.answer_known(reused);
  const auto rows = bench.rows();
  ASSERT_EQ(rows.size(), 5U);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].reused, i % 2 == 0);
    EXPECT_EQ(rows[i].body, "body");
  }
}

TEST(Recorder, FollowsABodyThatChangesUnderOneHead) {
  Bench bench;
  bench.answer("200 OK", "aaaa");
  for (const char* body : {"aaaa", "bbbb", "aaaa", "bbbb", "cccc"}) bench.answer_with_known_head(body, true);
  std::string bodies;
  for (const Row& row : bench.rows()) bodies += row.body + " ";
  EXPECT_EQ(bodies, "aaaa aaaa bbbb aaaa bbbb cccc ");
}

TEST(Recorder, KnowsAnAnswerAlsoInLaterChunks) {
  Bench bench;
  bench.answer("200 OK", "body");
  std::string stream;
  for (int i = 0; i < 3; ++i) {
    bench.answer_known(true);
    bench.recorder.take(stream);
  }
  const auto rows = read_back(stream);
  ASSERT_EQ(rows.size(), 4U);
  for (const Row& row : rows) EXPECT_EQ(row.body, "body");
}

TEST(Recorder, KeepsABodyThatIsTooLargeForItsTableWithItsHit) {
  Bench bench;
  const std::string large(3'000'000, 'x');
  bench.answer("200 OK", large);
  bench.answer_with_known_head(large, true);
  bench.answer_with_known_head("small", true);
  const auto rows = bench.rows();
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].body, large);
  EXPECT_EQ(rows[1].body, large);
  EXPECT_EQ(rows[2].body, "small");
  EXPECT_EQ(rows[2].bytes_in, 5U);
}

TEST(Recorder, KeepsWhatMaxBodyLeaves) {
  for (const std::uint64_t limit : {0U, 3U}) {
    Bench bench;
    bench.keep_limit = limit;
    bench.answer("200 OK", "body");
    const auto rows = bench.rows();
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].body, std::string{"body"}.substr(0, limit));
    EXPECT_EQ(rows[0].bytes_in, limit);
    EXPECT_EQ(rows[0].bytes_read, 4U);
  }
}

TEST(Recorder, KeepsTheBodyOfAnAnswerThatBrokeOff) {
  Bench bench;
  Response partial;
  partial.start({.keep_limit = UINT64_MAX});
  std::size_t used = 0;
  ASSERT_EQ(partial.feed("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", used), Response::Status::kNeedMore);
  const Hit hit = bench.hit();
  bench.recorder.record_failure(hit, hit.taken + 1ms, true, "unexpected EOF", &partial);
  const auto rows = bench.rows();
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].code, 0);
  EXPECT_EQ(rows[0].body, "half");
  EXPECT_EQ(rows[0].bytes_in, 0U);
  EXPECT_EQ(rows[0].bytes_read, 4U);
  EXPECT_TRUE(rows[0].reused);
}

TEST(Recorder, WantsAQuietChunkWrittenSoonAndABusyOneLater) {
  Bench bench;
  EXPECT_EQ(bench.recorder.flush_at(), Instant::max());
  bench.answer("200 OK", "body");
  const Nanos quiet = bench.recorder.flush_at() - bench.now();
  for (int i = 0; i < 20; ++i) bench.answer_known(true);
  EXPECT_EQ(bench.recorder.flush_at() - bench.now(), quiet) << "a chunk's time is that of its first hit";
  bench.rows();
  EXPECT_EQ(bench.recorder.flush_at(), Instant::max());
  for (int interval = 1; interval < 4; ++interval) {
    bench.sent += quiet;
    for (int i = 0; i < 20; ++i) bench.answer_known(true);
    EXPECT_EQ(bench.recorder.flush_at() - bench.now(), quiet) << "a burst does not make a stream busy";
    bench.rows();
  }
  bench.sent += quiet;
  bench.answer_known(true);
  const Nanos busy = bench.recorder.flush_at() - bench.now();
  EXPECT_GT(busy, 2 * quiet);
  EXPECT_LE(busy, 200ms) << "what is left of 250 ms is for the way to the file";
  bench.rows();
  bench.sent += busy;
  bench.answer_known(true);
  EXPECT_EQ(bench.recorder.flush_at() - bench.now(), quiet);
}

TEST(Recorder, WritesABurstOfAQuietStreamInSmallChunks) {
  Bench bench;
  bench.answer("200 OK", "body");
  std::vector<std::size_t> chunks;
  for (int hit = 1; hit < 20; ++hit) {
    if (bench.recorder.full()) chunks.push_back(bench.rows().size());
    bench.answer_known(true);
  }
  EXPECT_EQ(chunks, (std::vector<std::size_t>{3, 3, 3, 3, 3, 3})) << "what a flipped bit can cost";
}

TEST(Recorder, WritesAFloodInLargeChunksFromItsFirstMoment) {
  Bench bench;
  bench.answer("200 OK", "body");
  int chunks = 0;
  for (int hit = 1; hit < 1'000; ++hit) {
    if (bench.recorder.full()) chunks += !bench.rows().empty();
    bench.answer_known(true);
  }
  EXPECT_EQ(chunks, 8);
}

TEST(Recorder, TakesNothingOfAnEmptyChunk) {
  Bench bench;
  std::string chunk;
  bench.recorder.take(chunk);
  EXPECT_TRUE(chunk.empty());
  EXPECT_FALSE(bench.recorder.full());
}

TEST(Recorder, IsFullAfterManyHitsOrOneLargeBody) {
  Bench many;
  many.make_busy();
  many.answer("200 OK", "body");
  int hits = 1;
  for (; !many.recorder.full() && hits < 100'000; ++hits) many.answer_known(true);
  EXPECT_GT(hits, 1000);
  EXPECT_LT(hits, 100'000);
  EXPECT_EQ(many.rows().size(), static_cast<std::size_t>(hits));
  EXPECT_FALSE(many.recorder.full());
  Bench large;
  large.answer("200 OK", std::string(100'000, 'x'));
  EXPECT_TRUE(large.recorder.full());
}

}  // namespace
}  // namespace pepe
