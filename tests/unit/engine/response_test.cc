#include "engine/response.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "engine/answer_cache.h"
#include "support/gzip.h"

namespace pepe {
namespace {

struct Reading {
  Response::Status status{Response::Status::kNeedMore};
  std::size_t used{0};
};

// Feeds `bytes` in pieces of `piece`, until the response is whole or refused.
Reading read(Response& response, std::string_view bytes, std::size_t piece,
             ResponseExpectation expected = {.keep_limit = UINT64_MAX}) {
  response.start(expected);
  Reading reading;
  while (reading.used < bytes.size() && reading.status == Response::Status::kNeedMore) {
    std::size_t used = 0;
    reading.status = response.feed(bytes.substr(reading.used, piece), used);
    reading.used += used;
  }
  return reading;
}

struct WholeCase {
  const char* name;
  std::string bytes;
  int code;
  const char* body;
  bool keep_alive;
  std::size_t surplus{0};
};

const WholeCase kWholeCases[] = {
    {"ContentLength", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, "ok", true},
    {"NoReason", "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", 200, "", true},
    {"Chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n1;x=y\r\n!\r\n0\r\n\r\n", 200, "ok!",
     true},
    {"Trailers", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-T: 1\r\n\r\n", 200, "ok",
     true},
    {"Interim",
     "HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: "
     "1\r\n\r\nx",
     200, "x", true},
    {"NoContentHasNoBodyWhateverItSays", "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", 204, "", true},
    {"NotModifiedLikewise", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", 304, "", true},
    {"ConnectionClose", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx", 200, "x", false},
    {"Http10", "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", 200, "x", false},
    {"Http10KeepAlive", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx", 200, "x", true},
    {"SurplusIsNotRead", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxHTTP/1.1 200", 200, "x", true, 12},
    {"Unregistered", "HTTP/1.1 599 Odd\r\nContent-Length: 0\r\n\r\n", 599, "", true},
};

TEST(Response, ReadsWhatServersSendInPiecesOfAnySize) {
  for (const WholeCase& row : kWholeCases) {
    for (const std::size_t piece : {std::size_t{1}, std::size_t{2}, std::size_t{7}, row.bytes.size()}) {
      SCOPED_TRACE(fmt::format("{} by {}", row.name, piece));
      Response response;
      const Reading reading = read(response, row.bytes, piece);
      ASSERT_EQ(reading.status, Response::Status::kComplete) << response.error();
      EXPECT_EQ(reading.used, row.bytes.size() - row.surplus);
      EXPECT_EQ(response.code(), row.code);
      EXPECT_EQ(response.body().bytes(), row.body);
      EXPECT_EQ(response.keep_alive(), row.keep_alive);
    }
  }
}

TEST(Response, BlanksBehindAValueAreNoPartOfIt) {
  const std::string packed = gzip("hello");
  const std::string bytes = fmt::format(
      "HTTP/1.1 302 Found\r\nLocation: /there \t \r\nContent-Encoding: gzip \r\nContent-Length: {}\r\n\r\n{}",
      packed.size(), packed);
  Response response;
  ASSERT_EQ(read(response, bytes, bytes.size(), {.inflate = true, .keep_limit = UINT64_MAX}).status,
            Response::Status::kComplete);
  EXPECT_EQ(response.header("Location"), "/there");
  EXPECT_EQ(response.body().bytes(), "hello");
}

TEST(Response, ChunkedIsChunkedHoweverItIsSpelled) {
  const std::string_view bytes = "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked \r\n\r\n2\r\nok\r\n0\r\n\r\n";
  Response response;
  EXPECT_EQ(read(response, bytes, bytes.size()).status, Response::Status::kComplete) << response.error();
}

TEST(Response, ToHeadHasALengthAndNoBody) {
  Response response;
  const std::string_view bytes = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
  EXPECT_EQ(read(response, bytes, bytes.size(), {.to_head = true, .keep_limit = UINT64_MAX}).status,
            Response::Status::kComplete);
}

struct RefusedCase {
  const char* name;
  std::string bytes;
  const char* says;
};

const RefusedCase kRefusedCases[] = {
    {"FieldWithoutName", "HTTP/1.1 200 OK\r\n: a\r\nB: c\r\n\r\n", "a header field without a name"},
    {"LaterFieldWithoutName", "HTTP/1.1 200 OK\r\nA: b\r\n: c\r\n\r\n", "a header field without a name"},
    {"NotHttp", "hello\r\n\r\n", "malformed"},
    {"StatusTooLarge", "HTTP/1.1 65736 OK\r\n\r\n", "malformed"},
    {"StatusNoNumber", "HTTP/1.1 abc OK\r\n\r\n", "malformed"},
    {"TwoLengths", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok", "malformed"},
    {"NegativeLength", "HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\n", "malformed"},
    {"LengthPast64Bits", "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551618\r\n\r\nok", "malformed"},
    {"ChunkWithoutItsLineEnd", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nokXX0\r\n\r\n", "malformed"},
    {"NulInAValue", std::string{"HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n", 27}, "malformed"},
    {"Switching", "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n", "101"},
    {"UnknownCoding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: surprise\r\n\r\nok",
     "unsupported transfer encoding \"surprise\""},
    {"CodingBeforeChunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
     "unsupported transfer encoding"},
    {"CodingInAFieldOfItsOwn",
     "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
     "unsupported transfer encoding"},
    {"HeadWithoutEnd", "HTTP/1.1 200 OK\r\nX: " + std::string(2'000'000, 'a'), "exceeded 1048576 bytes"},
    {"TooManyFields",
     [] {
       std::string bytes = "HTTP/1.1 200 OK\r\n";
       for (int i = 0; i < 10'001; ++i) bytes += "a: b\r\n";
       return bytes;
     }(),
     "over 10000 header fields"},
    {"InterimWithoutEnd",
     [] {
       std::string bytes;
       for (int i = 0; i < 30'000; ++i) bytes += "HTTP/1.1 102 Processing\r\n\r\n";
       return bytes;
     }(),
     "exceeded 1048576 bytes"},
    {"ChunkExtensionWithoutEnd",
     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;" + std::string(2'000'000, 'a'), "exceeded 1048576 bytes"},
};

TEST(Response, RefusesWhatIsNotHttpAndWhatHasNoEnd) {
  for (const RefusedCase& row : kRefusedCases) {
    SCOPED_TRACE(row.name);
    Response response;
    EXPECT_EQ(read(response, row.bytes, 4096).status, Response::Status::kError);
    EXPECT_NE(response.error().find(row.says), std::string::npos) << response.error();
  }
}

TEST(Response, EndsWithTheConnectionOnlyWhenNothingElseSaysWhere) {
  Response response;
  EXPECT_EQ(read(response, "HTTP/1.1 200 OK\r\n\r\nto the end", 5).status, Response::Status::kNeedMore);
  EXPECT_EQ(response.end_of_input(), Response::Status::kComplete);
  EXPECT_EQ(response.body().bytes(), "to the end");
  EXPECT_FALSE(response.keep_alive());

  EXPECT_EQ(read(response, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort", 50).status,
            Response::Status::kNeedMore);
  EXPECT_EQ(response.end_of_input(), Response::Status::kError);
  EXPECT_EQ(response.error(), "unexpected EOF after 5 of 9 bytes");

  EXPECT_EQ(read(response, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n", 50).status,
            Response::Status::kNeedMore);
  EXPECT_EQ(response.end_of_input(), Response::Status::kError);
}

TEST(Response, NamesHeadersAsGoDoesAndLeavesTheFramingOut) {
  Response response;
  read(response,
       "HTTP/1.1 200 OK\r\netag: x\r\nX-REQUEST-id:  a \r\nTransfer-Encoding: chunked\r\nX-Empty:\r\n\r\n0\r\n\r\n", 3);
  const std::vector<HeaderView> want{{"Etag", "x"}, {"X-Request-Id", "a"}, {"X-Empty", ""}};
  EXPECT_EQ(std::vector<HeaderView>(response.headers().begin(), response.headers().end()), want);
}

std::string packed_answer(const std::string& packed, std::size_t announced) {
  return fmt::format("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n", announced) + packed;
}

constexpr std::size_t kLarge = std::size_t{4} << 20;

TEST(Response, UnpacksALargeBodyInSlices) {
  const std::string packed = gzip(std::string(kLarge, 'x'));
  Response response;
  const Reading reading = read(response, packed_answer(packed, packed.size()) + "surplus", 1'000'000,
                               {.inflate = true, .keep_limit = UINT64_MAX});
  EXPECT_EQ(reading.status, Response::Status::kBusy);
  EXPECT_EQ(response.bytes_read(), packed.size());
  EXPECT_EQ(reading.used, packed_answer(packed, packed.size()).size());
  int slices = 1;
  Response::Status status = reading.status;
  for (std::uint64_t kept = response.body().kept(); status == Response::Status::kBusy; ++slices) {
    status = response.go_on();
    EXPECT_LE(response.body().kept() - kept, std::uint64_t{300} * 1024);
    kept = response.body().kept();
  }
  EXPECT_EQ(status, Response::Status::kComplete);
  EXPECT_GT(slices, 10);
  EXPECT_EQ(response.body().bytes(), std::string(kLarge, 'x'));
}

TEST(Response, ReadsOnWhenItHasUnpackedWhatItHas) {
  const std::string packed = gzip(std::string(kLarge, 'x'));
  Response response;
  Reading reading =
      read(response, packed_answer(packed, packed.size() + 1), 1'000'000, {.inflate = true, .keep_limit = UINT64_MAX});
  while (reading.status == Response::Status::kBusy) reading.status = response.go_on();
  EXPECT_EQ(reading.status, Response::Status::kNeedMore);
  EXPECT_EQ(response.body().kept(), kLarge);
}

TEST(Response, RefusesAPackedBodyThatIsCut) {
  const std::string packed = gzip(std::string(kLarge, 'x')).substr(0, 3000);
  Response response;
  Reading reading =
      read(response, packed_answer(packed, packed.size()), 1'000'000, {.inflate = true, .keep_limit = UINT64_MAX});
  while (reading.status == Response::Status::kBusy) reading.status = response.go_on();
  EXPECT_EQ(reading.status, Response::Status::kError);
  EXPECT_EQ(response.error(), "gzip: unexpected EOF in the response body");
}

TEST(Response, FailsWhenThereIsNoMemoryForItsBody) {
  BodyBudget budget{std::uint64_t{1} << 20};
  const std::string packed = gzip(std::string(kLarge, 'x'));
  const std::string plain =
      fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", kLarge) + std::string(kLarge, 'x');
  for (const std::string& answer : {packed_answer(packed, packed.size()), plain}) {
    Response response{&budget};
    Reading reading = read(response, answer, 100'000, {.inflate = true, .keep_limit = UINT64_MAX});
    while (reading.status == Response::Status::kBusy) reading.status = response.go_on();
    EXPECT_EQ(reading.status, Response::Status::kError);
    EXPECT_EQ(response.error().substr(0, 14), "out of memory:");
    EXPECT_TRUE(response.body().bytes().empty());
    EXPECT_EQ(budget.taken(), 0U);
  }
}

TEST(AnswerCache, KnowsAHeadByItsBytes) {
  const std::string head = "HTTP/1.1 404 Nope\r\nContent-Length: 2\r\nx-a: b\r\n\r\n";
  Response response;
  read(response, head + "ok", 1000);
  AnswerCache cache;
  EXPECT_FALSE(cache.knows_head(head));
  cache.learn(head, response);
  EXPECT_TRUE(cache.knows_head(head + "ok"));
  EXPECT_FALSE(cache.knows_head(head.substr(0, head.size() - 1)));
  EXPECT_EQ(cache.content_length(), 2U);
  EXPECT_EQ(cache.code(), 404);
  EXPECT_EQ(cache.error(), "404 Nope");
  EXPECT_EQ(cache.headers(), (std::vector<HeaderView>{{"Content-Length", "2"}, {"X-A", "b"}}));
}

}  // namespace
}  // namespace pepe
