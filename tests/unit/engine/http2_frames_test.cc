#include "engine/http2_frames.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace pepe {
namespace {

using Kind = Http2FrameReader::Piece::Kind;

std::string frame(std::uint8_t type, std::uint8_t flags, std::string_view payload) {
  std::string out;
  append_frame_head(out,
                    {.size = static_cast<std::uint32_t>(payload.size()), .type = type, .flags = flags, .stream = 7});
  return out.append(payload);
}

// What a reader makes of `bytes` that come `piece` at a time: a line for each frame, DATA put together.
std::vector<std::string> read(std::string_view bytes, std::size_t piece) {
  Http2FrameReader reader;
  std::vector<std::string> lines;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
    const std::string copy{bytes.substr(0, piece)};
    std::string_view left = copy;
    for (;;) {
      const auto got = reader.next(left);
      if (got.kind == Kind::kNone) break;
      if (got.kind == Kind::kOversize) lines.emplace_back("oversize");
      if (got.kind == Kind::kBadPadding) lines.emplace_back("bad padding");
      if (got.kind == Kind::kOversize || got.kind == Kind::kBadPadding) return lines;
      if (got.kind == Kind::kFrame)
        lines.push_back(fmt::format("{} {} {} {}", got.head.type, got.head.flags, got.head.stream, got.payload));
      if (got.kind != Kind::kData) continue;
      if (got.first) lines.push_back(fmt::format("data of {}: ", got.content));
      lines.back().append(got.payload);
      if (got.last) lines.back().append(".");
    }
    EXPECT_TRUE(left.empty());
  }
  return lines;
}

TEST(Http2FrameReader, CutsTheSameFramesHoweverTheBytesCome) {
  const std::string bytes = frame(NGHTTP2_SETTINGS, 0, "") + frame(NGHTTP2_PING, 1, "12345678") +
                            frame(NGHTTP2_DATA, 0, "content") + frame(NGHTTP2_DATA, 1, "") +
                            frame(NGHTTP2_DATA, NGHTTP2_FLAG_PADDED, "\3abcxyz") +
                            frame(NGHTTP2_DATA, NGHTTP2_FLAG_PADDED, "\3xyz") + frame(0x99, 0, "?");
  const std::vector<std::string> want{"4 0 7 ",       "6 1 7 12345678",  "data of 7: content.",
                                      "data of 0: .", "data of 3: abc.", "data of 0: .",
                                      "153 0 7 ?"};
  for (const std::size_t piece : {1U, 2U, 3U, 5U, 8U, 9U, 10U, 11U, 1000U})
    EXPECT_EQ(read(bytes, piece), want) << piece;
}

TEST(Http2FrameReader, RefusesWhatCannotBeCut) {
  std::string large;
  append_frame_head(large, {.size = kHttp2FrameBytes + 1, .type = NGHTTP2_DATA, .stream = 1});
  EXPECT_EQ(read(large, 1), std::vector<std::string>{"oversize"});
  EXPECT_EQ(read(frame(NGHTTP2_DATA, NGHTTP2_FLAG_PADDED, "\4abc"), 1), std::vector<std::string>{"bad padding"});
  EXPECT_EQ(read(frame(NGHTTP2_DATA, NGHTTP2_FLAG_PADDED, ""), 1), std::vector<std::string>{"bad padding"});
}

}  // namespace
}  // namespace pepe
