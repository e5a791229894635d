#include "bench/http2_answers.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pepe {
namespace {

using std::string_literals::operator""s;
using testing::Test;

constexpr char kData = 0;
constexpr char kHeaders = 1;

std::string frame(char type, int flags, std::uint32_t stream, std::string_view payload) {
  std::string bytes;
  for (const int shift : {16, 8, 0}) bytes.push_back(static_cast<char>(payload.size() >> shift));
  bytes.push_back(type);
  bytes.push_back(static_cast<char>(flags));
  for (const int shift : {24, 16, 8, 0}) bytes.push_back(static_cast<char>(stream >> shift));
  return bytes.append(payload);
}

std::string get(std::uint32_t stream) { return frame(kHeaders, 5, stream, "\x82"); }

struct Head {
  char type;
  std::uint32_t stream;
  std::size_t size;
  bool operator==(const Head&) const = default;
};

std::vector<Head> heads(std::string_view bytes) {
  std::vector<Head> found;
  const auto at = [&bytes](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(bytes[i])); };
  while (bytes.size() >= 9) {
    const std::size_t size = at(0) << 16 | at(1) << 8 | at(2);
    const auto stream = static_cast<std::uint32_t>(at(5) << 24 | at(6) << 16 | at(7) << 8 | at(8));
    found.push_back({bytes[3], stream, size});
    bytes.remove_prefix(9 + size);
  }
  return found;
}

class Http2AnswersTest : public Test {
 protected:
  Http2AnswersTest() {
    EXPECT_EQ(answers_.feed(std::string{kHttp2Preface} + frame(4, 0, 0, ""), out_), 0U);
    out_.clear();
  }

  std::string body_ = std::string(40'000, 'b');
  std::string out_;
  Http2Answers answers_{body_, 10, out_};
};

TEST_F(Http2AnswersTest, CountsRequestsInAnyCuts) {
  const std::string bytes = get(1) + get(3) + frame(kHeaders, 4, 5, "\x83") + frame(kData, 0, 5, "abc") +
                            frame(kData, 1, 5, "") + frame(kHeaders, 1, 7, "\x82") + frame(9, 4, 7, "");
  for (std::size_t cut = 1; cut < 20; ++cut) {
    std::string out;
    Http2Answers answers{body_, 10, out};
    const std::string all = std::string{kHttp2Preface} + bytes;
    std::uint32_t count = 0;
    for (std::size_t at = 0; at < all.size(); at += cut) {
      const auto more = answers.feed(std::string_view{all}.substr(at, cut), out);
      ASSERT_TRUE(more.has_value()) << cut;
      count += *more;
    }
    EXPECT_EQ(count, 4U) << cut;
  }
}

TEST_F(Http2AnswersTest, KeepsToTheWindowsAndGoesOnWhenTheyOpen) {
  ASSERT_EQ(answers_.feed(get(1) + get(3), out_), 2U);
  answers_.answer(2, out_);
  const auto block = heads(out_)[0].size;
  // 65,535 bytes at first on the connection: all of the first body, 25,535 bytes of the second.
  EXPECT_EQ(heads(out_), (std::vector<Head>{{kHeaders, 1, block},
                                            {kData, 1, 16384},
                                            {kData, 1, 16384},
                                            {kData, 1, 7232},
                                            {kHeaders, 3, 4},
                                            {kData, 3, 16384},
                                            {kData, 3, 9151}}));
  out_.clear();
  ASSERT_EQ(answers_.feed(frame(8, 0, 0, "\0\0\x10\0"s), out_), 0U);
  EXPECT_EQ(heads(out_), (std::vector<Head>{{kData, 3, 4096}}));
  out_.clear();
  ASSERT_EQ(answers_.feed(frame(8, 0, 0, "\0\1\0\0"s), out_), 0U);
  EXPECT_EQ(heads(out_), (std::vector<Head>{{kData, 3, 10369}}));
}

TEST_F(Http2AnswersTest, AnswersNoStreamThatWasReset) {
  ASSERT_EQ(answers_.feed(get(1) + frame(3, 0, 1, "\0\0\0\x8"s), out_), 1U);
  answers_.answer(1, out_);
  EXPECT_EQ(out_, "");
}

TEST_F(Http2AnswersTest, PutsNothingIntoATableThatTheClientDoesNotKeep) {
  ASSERT_EQ(answers_.feed(frame(4, 0, 0, "\0\1\0\0\0\0"s) + get(1) + get(3), out_), 2U);
  out_.clear();
  answers_.answer(1, out_);
  answers_.answer(1, out_);
  const auto found = heads(out_);
  EXPECT_EQ(out_.substr(9, 4), "\x20\x88\x0f\x27"s);  // a table of size 0; 200; `server`, not indexed
  EXPECT_EQ(found.front().size, found[4].size);
}

TEST_F(Http2AnswersTest, SendsPingsAndSettingsBack) {
  ASSERT_EQ(answers_.feed(frame(6, 0, 0, "12345678") + frame(4, 0, 0, ""), out_), 0U);
  EXPECT_EQ(out_, frame(6, 1, 0, "12345678") + frame(4, 1, 0, ""));
}

TEST_F(Http2AnswersTest, RefusesWhatIsNotHttp2) {
  const std::pair<const char*, std::string> rows[] = {
      {"a frame that is too large", frame(kData, 0, 1, std::string(16385, 'x'))},
      {"a block that goes on without a beginning", frame(9, 4, 1, "")},
      {"an update of the window of three bytes", frame(8, 0, 0, "123")},
  };
  for (const auto& [name, bytes] : rows) {
    std::string out;
    Http2Answers answers{body_, 10, out};
    EXPECT_FALSE(answers.feed(std::string{kHttp2Preface} + bytes, out).has_value()) << name;
  }
  std::string out;
  EXPECT_FALSE((Http2Answers{body_, 10, out}.feed("GET / HTTP/1.1\r\n\r\n", out).has_value()));
}

}  // namespace
}  // namespace pepe
