// What ends a hit on HTTP/2 that should not, or its connection.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "engine/http2_frames.h"
#include "unit/engine/http2_bench.h"

namespace pepe {
namespace {

using testing::HasSubstr;

std::string frame(std::uint8_t type, std::uint8_t flags, std::int32_t stream, const std::string& payload) {
  std::string out;
  append_frame_head(
      out, {.size = static_cast<std::uint32_t>(payload.size()), .type = type, .flags = flags, .stream = stream});
  return out + payload;
}

// A field as HPACK has it that knows neither tables nor Huffman's code.
std::string field(const std::string& name, const std::string& value) {
  return std::string{'\0', static_cast<char>(name.size())} + name + static_cast<char>(value.size()) + value;
}

std::string number(std::uint32_t value) {
  std::string out;
  append_u32(out, value);
  return out;
}

std::string setting(std::uint16_t id, std::uint32_t value) {
  std::string out;
  append_setting(out, id, value);
  return out;
}

const std::string kOk = "\x88";
constexpr std::uint8_t kEndsHead = NGHTTP2_FLAG_END_HEADERS;
constexpr std::uint8_t kEndsBoth = NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_END_STREAM;

std::string head(const std::string& block, std::uint8_t flags = kEndsHead) {
  return frame(NGHTTP2_HEADERS, flags, 1, block);
}
std::string data(const std::string& bytes, std::uint8_t flags) { return frame(NGHTTP2_DATA, flags, 1, bytes); }

TEST(Http2Errors, EndsOnlyTheHitWhoseStreamIsReset) {
  Http2Bench bench;
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

TEST(Http2Errors, SaysWhatTheFarewellOfABrokenConnectionSaid) {
  Http2Bench bench;
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

TEST(Http2Errors, TakesNoBodyWhereThereIsNone) {
  for (const char* method : {"HEAD", "GET"}) {
    SCOPED_TRACE(method);
    Http2Bench bench;
    bench.send({method, "http://h/p", {}, nullptr});
    Http2Peer& peer = bench.connect_and_run();
    peer.answer(1, {{":status", *method == 'H' ? "200" : "204"}}, "body");
    bench.run();
    ASSERT_EQ(bench.outcomes.size(), 1U);
    EXPECT_EQ(bench.outcomes[0].error, "stream error: stream ID 1; PROTOCOL_ERROR");
  }
}

TEST(Http2Errors, TakesNoAnswerToWhatItHasNotSent) {
  Http2Bench bench;
  bench.get();
  Http2Peer& peer = bench.connect_and_run();
  peer.allow_streams(1);
  bench.run();
  bench.get();
  bench.run();
  peer.say(frame(NGHTTP2_HEADERS, kEndsBoth, 3, kOk));
  bench.run();
  ASSERT_FALSE(bench.outcomes.empty());
  EXPECT_THAT(bench.outcomes[0].error, HasSubstr("HEADERS on a stream that is not open"));
}

TEST(Http2Errors, TellsAnEndBeforeTheAnswerFromOneWithin) {
  Http2Bench bench;
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

TEST(Http2Errors, RefusesWhatIsNotHttp2AndSaysWhy) {
  for (const NoiseCase& row : kNoiseCases) {
    SCOPED_TRACE(row.name);
    Http2Bench bench;
    bench.get();
    bench.connect();
    bench.peers.back()->say(row.bytes);
    bench.run();
    ASSERT_EQ(bench.outcomes.size(), 1U);
    EXPECT_THAT(bench.outcomes[0].error, HasSubstr(row.error));
    EXPECT_EQ(bench.recycled, 1U);
  }
}

struct RuleCase {
  const char* name;
  std::string frames;  // after the server's SETTINGS, to the request on stream 1
  const char* error;   // "": the answer is taken
};

const RuleCase kStreamCases[] = {
    {"WithoutData", head(kOk, kEndsBoth), ""},
    {"EmptyData", head(kOk) + data("", NGHTTP2_FLAG_END_STREAM), ""},
    {"PaddedData", head(kOk) + data(std::string{"\2ok\0\0", 5}, NGHTTP2_FLAG_END_STREAM | NGHTTP2_FLAG_PADDED), ""},
    {"PaddedHead", head("\1" + number(0) + "\x10" + kOk + "p", kEndsBoth | NGHTTP2_FLAG_PADDED | NGHTTP2_FLAG_PRIORITY),
     ""},
    {"Interim",
     head(field(":status", "100")) + head(field(":status", "103") + field("link", "l")) + head(kOk, kEndsBoth), ""},
    {"Trailers", head(kOk) + data("ok", 0) + head(field("x-t", "1"), kEndsBoth), ""},
    {"HeadInPieces",
     head(kOk, 0) + frame(NGHTTP2_CONTINUATION, 0, 1, "") +
         frame(NGHTTP2_CONTINUATION, kEndsHead, 1, field("x-a", "1")) + data("ok", NGHTTP2_FLAG_END_STREAM),
     ""},
    {"FieldThatIsNone", head(kOk + field("x a", "1") + field("x-b", "1\n"), kEndsBoth), ""},
    {"LengthThatFits", head(kOk + field("content-length", "2")) + data("ok", NGHTTP2_FLAG_END_STREAM), ""},
    {"FramesOfNoConcern",
     frame(NGHTTP2_PRIORITY, 0, 1, std::string(5, '\0')) + frame(0x77, 0xFF, 1, "x") +
         frame(NGHTTP2_WINDOW_UPDATE, 0, 1, number(1)) + frame(NGHTTP2_PING, NGHTTP2_FLAG_ACK, 0, "12345678") +
         frame(NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0, "") + head(kOk, kEndsBoth),
     ""},
    {"DataBeforeTheHead", data("ok", 0), "PROTOCOL_ERROR"},
    {"NoStatus", head(field("x-a", "1"), kEndsBoth), "PROTOCOL_ERROR"},
    {"StatusTwice", head(kOk + kOk, kEndsBoth), "PROTOCOL_ERROR"},
    {"StatusBehindAField", head(field("x-a", "1") + kOk, kEndsBoth), "PROTOCOL_ERROR"},
    {"StatusOfTwoDigits", head(field(":status", "20"), kEndsBoth), "PROTOCOL_ERROR"},
    {"SwitchingProtocols", head(field(":status", "101")), "PROTOCOL_ERROR"},
    {"PseudoFieldOfARequest", head(kOk + field(":path", "/"), kEndsBoth), "PROTOCOL_ERROR"},
    {"UpperCase", head(kOk + field("X-a", "1"), kEndsBoth), "PROTOCOL_ERROR"},
    {"FieldOfTheConnection", head(kOk + field("connection", "close"), kEndsBoth), "PROTOCOL_ERROR"},
    {"InterimThatEnds", head(field(":status", "103"), kEndsBoth), "PROTOCOL_ERROR"},
    {"TrailersThatGoOn", head(kOk) + head(field("x-t", "1")), "PROTOCOL_ERROR"},
    {"StatusInTrailers", head(kOk) + head(kOk, kEndsBoth), "PROTOCOL_ERROR"},
    {"LongerThanItsLength", head(kOk + field("content-length", "1")) + data("ok", 0), "PROTOCOL_ERROR"},
    {"ShorterThanItsLength", head(kOk + field("content-length", "3")) + data("ok", NGHTTP2_FLAG_END_STREAM),
     "PROTOCOL_ERROR"},
    {"NoDataForItsLength", head(kOk + field("content-length", "3"), kEndsBoth), "PROTOCOL_ERROR"},
    {"LengthTwice", head(kOk + field("content-length", "2") + field("content-length", "2")), "PROTOCOL_ERROR"},
    {"LengthThatIsNoNumber", head(kOk + field("content-length", "+2")), "PROTOCOL_ERROR"},
    {"WindowUpdateOfNothing", frame(NGHTTP2_WINDOW_UPDATE, 0, 1, number(0)), "PROTOCOL_ERROR"},
    {"WindowOverItsLimit", frame(NGHTTP2_WINDOW_UPDATE, 0, 1, number(0x7FFFFFFF)), "FLOW_CONTROL_ERROR"},
    {"Reset", head(kOk) + frame(NGHTTP2_RST_STREAM, 0, 1, number(NGHTTP2_CANCEL)), "CANCEL; received from peer"},
};

TEST(Http2Errors, AreOfTheStreamWhereTheAnswerBreaksTheRules) {
  for (const RuleCase& row : kStreamCases) {
    SCOPED_TRACE(row.name);
    Http2Bench bench;
    bench.get();
    Http2Peer& peer = bench.connect_and_run();
    peer.say(row.frames);
    bench.run();
    ASSERT_EQ(bench.outcomes.size(), 1U);
    const HitOutcome& outcome = bench.outcomes[0];
    const std::string error = *row.error == '\0' ? "200 OK" : std::string{"stream error: stream ID 1; "} + row.error;
    EXPECT_EQ(outcome.error, error);
    EXPECT_EQ(bench.recycled, 0U);
    // The connection and its tables are as they were.
    bench.get();
    bench.run();
    peer.say(frame(NGHTTP2_HEADERS, kEndsBoth, 3, kOk));
    bench.run();
    ASSERT_EQ(bench.outcomes.size(), 2U);
    EXPECT_EQ(bench.outcomes[1].code, 200);
  }
}

const RuleCase kConnectionCases[] = {
    {"HeadOnAStreamOfTheFuture", frame(NGHTTP2_HEADERS, kEndsBoth, 3, kOk), "PROTOCOL_ERROR: HEADERS on a stream"},
    {"HeadOnAStreamOfTheServers", frame(NGHTTP2_HEADERS, kEndsBoth, 2, kOk), "PROTOCOL_ERROR: HEADERS on a stream"},
    {"DataOnAStreamOfTheFuture", frame(NGHTTP2_DATA, 0, 3, "x"), "PROTOCOL_ERROR: DATA on a stream"},
    {"ResetOfAStreamOfTheFuture", frame(NGHTTP2_RST_STREAM, 0, 3, number(0)), "PROTOCOL_ERROR: RST_STREAM"},
    {"ResetOfTheWrongSize", frame(NGHTTP2_RST_STREAM, 0, 1, "123"), "FRAME_SIZE_ERROR"},
    {"Push", frame(NGHTTP2_PUSH_PROMISE, kEndsHead, 1, number(2)), "PROTOCOL_ERROR: PUSH_PROMISE"},
    {"ContinuationOfNothing", frame(NGHTTP2_CONTINUATION, kEndsHead, 1, ""), "PROTOCOL_ERROR: CONTINUATION without"},
    {"FrameWithinAHead", head(kOk, 0) + frame(NGHTTP2_PING, 0, 0, "12345678"), "PROTOCOL_ERROR: CONTINUATION expected"},
    {"PaddingOverItsHead", head("\7" + kOk, kEndsBoth | NGHTTP2_FLAG_PADDED), "PROTOCOL_ERROR: padding"},
    {"PaddingOverItsData", head(kOk) + data("\7ok", NGHTTP2_FLAG_PADDED), "PROTOCOL_ERROR: padding"},
    {"PaddingWithoutRoom", head(kOk) + data("", NGHTTP2_FLAG_PADDED), "PROTOCOL_ERROR: padding"},
    {"SettingsOnAStream", frame(NGHTTP2_SETTINGS, 0, 1, ""), "PROTOCOL_ERROR: SETTINGS on a stream"},
    {"AcknowledgementWithMore", frame(NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0, setting(3, 1)), "FRAME_SIZE_ERROR"},
    {"PushAllowed", frame(NGHTTP2_SETTINGS, 0, 0, setting(2, 1)), "PROTOCOL_ERROR: invalid SETTINGS"},
    {"WindowTooLarge", frame(NGHTTP2_SETTINGS, 0, 0, setting(4, 0x80000000)), "FLOW_CONTROL_ERROR: invalid SETTINGS"},
    {"FramesTooSmall", frame(NGHTTP2_SETTINGS, 0, 0, setting(5, 16'383)), "PROTOCOL_ERROR: invalid SETTINGS"},
    {"FramesTooLarge", frame(NGHTTP2_SETTINGS, 0, 0, setting(5, 1 << 24)), "PROTOCOL_ERROR: invalid SETTINGS"},
    {"PingOfTheWrongSize", frame(NGHTTP2_PING, 0, 0, "1"), "FRAME_SIZE_ERROR"},
    {"PingOnAStream", frame(NGHTTP2_PING, 0, 1, "12345678"), "PROTOCOL_ERROR: PING on a stream"},
    {"ShortFarewell", frame(NGHTTP2_GOAWAY, 0, 0, "1234567"), "FRAME_SIZE_ERROR"},
    {"FarewellWithAStreamOfTheServers", frame(NGHTTP2_GOAWAY, 0, 0, number(2) + number(0)),
     "PROTOCOL_ERROR: invalid GOAWAY"},
    {"FarewellThatTakesBack",
     frame(NGHTTP2_GOAWAY, 0, 0, number(1) + number(0)) + frame(NGHTTP2_GOAWAY, 0, 0, number(3) + number(0)),
     "PROTOCOL_ERROR: invalid GOAWAY"},
    {"WindowUpdateOfNothing", frame(NGHTTP2_WINDOW_UPDATE, 0, 0, number(0)), "PROTOCOL_ERROR: WINDOW_UPDATE of 0"},
    {"WindowOverItsLimit", frame(NGHTTP2_WINDOW_UPDATE, 0, 0, number(0x7FFFFFFF)), "FLOW_CONTROL_ERROR"},
    {"WindowUpdateOfTheWrongSize", frame(NGHTTP2_WINDOW_UPDATE, 0, 1, "1"), "FRAME_SIZE_ERROR"},
    {"TableTooLarge", head("\x3f\xff\x7f" + kOk, kEndsBoth), "COMPRESSION_ERROR"},
    {"HeadCutWithinAField", head(kOk + std::string{"\0\7x", 3}, kEndsBoth), "COMPRESSION_ERROR"},
};

TEST(Http2Errors, AreOfTheConnectionWhereNothingElseCanBeTrusted) {
  for (const RuleCase& row : kConnectionCases) {
    SCOPED_TRACE(row.name);
    Http2Bench bench;
    bench.get();
    bench.connect_and_run().say(row.frames);
    bench.run();
    ASSERT_EQ(bench.outcomes.size(), 1U);
    EXPECT_THAT(bench.outcomes[0].error, HasSubstr(row.error));
    EXPECT_EQ(bench.recycled, 1U);
    EXPECT_TRUE(bench.peers[0]->ended);
  }
}

TEST(Http2Errors, EndAHeadThatGoesOnForever) {
  struct Case {
    const char* name;
    std::size_t piece;
  };
  for (const Case row : {Case{"InWholeFrames", 16'384}, Case{"InCrumbs", 0}}) {
    SCOPED_TRACE(row.name);
    Http2Bench bench;
    bench.get();
    Http2Peer& peer = bench.connect_and_run();
    peer.say(head(kOk, 0));
    for (int i = 0; i < 2000 && bench.outcomes.empty(); ++i) {
      peer.say(frame(NGHTTP2_CONTINUATION, 0, 1, std::string(row.piece, 'x')));
      bench.run();
    }
    ASSERT_EQ(bench.outcomes.size(), 1U);
    EXPECT_THAT(bench.outcomes[0].error, HasSubstr("ENHANCE_YOUR_CALM: response headers exceeded 1048576 bytes"));
  }
}

// It is closed while it has put off reading the rest.
TEST(Http2Errors, EndAConnectionThatHasMuchMoreToRead) {
  Http2Bench bench;
  bench.get();
  bench.connect_and_run().say(frame(NGHTTP2_PING, 0, 1, "12345678") + std::string(150'000, 'x'));
  bench.run();
  ASSERT_EQ(bench.outcomes.size(), 1U);
  EXPECT_THAT(bench.outcomes[0].error, HasSubstr("PING on a stream"));
  EXPECT_EQ(bench.recycled, 1U);
}

TEST(Http2Errors, LimitsWhatHeadersMayUnpackTo) {
  Http2Bench bench;
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

}  // namespace
}  // namespace pepe
