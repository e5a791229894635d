// HOT: several times per hit. No allocation, lock, log or wall clock. What an HTTP/2 connection reads.
#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

#include "engine/http2_session.h"
#include "engine/http2_windows.h"
#include "engine/limits.h"

namespace pepe {
namespace {

constexpr std::size_t kMaxShownDebug = 200;
constexpr std::uint32_t kSettingBytes = 6;

std::string printable(std::string_view text) {
  std::string shown{text.substr(0, kMaxShownDebug)};
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return c < 0x20 || c > 0x7E || c == '"'; }, '.');
  return shown;
}

// What stands before and after the block of a HEADERS frame. False: there is less than that.
bool strip_headers_frame(const Http2FrameHead& head, std::string_view& payload) {
  std::size_t padding = 0;
  if (head.has(NGHTTP2_FLAG_PADDED)) {
    if (payload.empty()) return false;
    padding = static_cast<unsigned char>(payload[0]);
    payload.remove_prefix(1);
  }
  const std::size_t priority = head.has(NGHTTP2_FLAG_PRIORITY) ? 5 : 0;
  if (payload.size() < priority + padding) return false;
  payload = payload.substr(priority, payload.size() - priority - padding);
  return true;
}

}  // namespace

bool Http2Session::feed(std::string_view bytes) {
  if (!std::exchange(begun_, true) && bytes.starts_with("HTTP/"))
    return fail("connection error: the server speaks HTTP/1");
  try {
    while (!ended_) {
      const Piece piece = reader_.next(bytes);
      if (piece.kind == Piece::Kind::kNone) return true;
      on_piece(piece);
    }
    return true;
  } catch (const std::bad_alloc&) {
    run_out_of_memory();
    return false;
  }
}

void Http2Session::on_piece(const Piece& piece) {
  const Http2FrameHead& head = piece.head;
  if (piece.kind == Piece::Kind::kOversize) return end_connection(NGHTTP2_FRAME_SIZE_ERROR);
  if (!settled_ && (head.type != NGHTTP2_SETTINGS || head.has(NGHTTP2_FLAG_ACK)))
    return end_connection(NGHTTP2_PROTOCOL_ERROR, "SETTINGS expected");
  if (block_stream_ != 0 && (head.type != NGHTTP2_CONTINUATION || head.stream != block_stream_))
    return end_connection(NGHTTP2_PROTOCOL_ERROR, "CONTINUATION expected");
  if (piece.kind == Piece::Kind::kBadPadding) return end_connection(NGHTTP2_PROTOCOL_ERROR, "padding over its frame");
  if (control_.size() > kMaxControlBytes) return end_connection(NGHTTP2_ENHANCE_YOUR_CALM, "too many frames to answer");
  switch (head.type) {
    case NGHTTP2_DATA: return on_data(piece);
    case NGHTTP2_HEADERS: return on_headers(head, piece.payload);
    case NGHTTP2_CONTINUATION: return on_continuation(head, piece.payload);
    case NGHTTP2_RST_STREAM: return on_reset(head, piece.payload);
    case NGHTTP2_SETTINGS: return on_settings(head, piece.payload);
    case NGHTTP2_PUSH_PROMISE: return end_connection(NGHTTP2_PROTOCOL_ERROR, "PUSH_PROMISE, which was ruled out");
    case NGHTTP2_PING: return on_ping(head, piece.payload);
    case NGHTTP2_GOAWAY: return on_goaway(head, piece.payload);
    case NGHTTP2_WINDOW_UPDATE: return on_window_update(head, piece.payload);
    default: return;  // PRIORITY, which only advises, and extensions
  }
}

void Http2Session::on_data(const Piece& piece) {
  if (piece.first) begin_data(piece);
  if (ended_) return;
  Http2Stream* const stream = streams_.find(piece.head.stream);
  if (stream == nullptr || stream->state != Http2Stream::State::kOpen) return;
  if (!piece.payload.empty()) take_content(*stream, piece.payload);
  if (piece.last && piece.head.has(NGHTTP2_FLAG_END_STREAM) && stream->state == Http2Stream::State::kOpen)
    end_answer(*stream);
}

// The whole frame counts, be it of a stream that is gone. Windows are opened again when half of them is used.
void Http2Session::begin_data(const Piece& piece) {
  const Http2FrameHead& head = piece.head;
  if (!is_known(head.stream)) return end_connection(NGHTTP2_PROTOCOL_ERROR, "DATA on a stream that is not open");
  receive_window_ -= head.size;
  if (receive_window_ < 0) return end_connection(NGHTTP2_FLOW_CONTROL_ERROR);
  if (receive_window_ < kConnectionWindow / 2) {
    const std::int64_t used = kConnectionWindow - std::exchange(receive_window_, kConnectionWindow);
    append_number_frame(control_, NGHTTP2_WINDOW_UPDATE, 0, static_cast<std::uint32_t>(used));
  }
  Http2Stream* const stream = streams_.find(head.stream);
  if (stream == nullptr) return;
  stream->receive_window -= head.size;
  if (stream->receive_window < 0) return reset(*stream, NGHTTP2_FLOW_CONTROL_ERROR);
  if (stream->whole) return reset(*stream, NGHTTP2_STREAM_CLOSED);
  if (stream->state != Http2Stream::State::kOpen) return;
  if (stream->response == nullptr || !stream->response->has_head()) return reset(*stream, NGHTTP2_PROTOCOL_ERROR);
  const auto announced = static_cast<std::uint64_t>(stream->announced_length);
  if (stream->announced_length >= 0 && stream->response->bytes_read() + piece.content > announced)
    return reset(*stream, NGHTTP2_PROTOCOL_ERROR);
  if (head.has(NGHTTP2_FLAG_END_STREAM) || stream->receive_window >= kStreamWindow / 2) return;
  const std::int64_t used = kStreamWindow - std::exchange(stream->receive_window, kStreamWindow);
  append_number_frame(control_, NGHTTP2_WINDOW_UPDATE, stream->id, static_cast<std::uint32_t>(used));
}

void Http2Session::take_content(Http2Stream& stream, std::string_view content) {
  if (!stream.response->add_body(content)) return broken(stream, stream.response->error());
  unpacking_ = unpacking_ || stream.response->busy();
}

void Http2Session::on_headers(const Http2FrameHead& head, std::string_view payload) {
  if (!is_known(head.stream)) return end_connection(NGHTTP2_PROTOCOL_ERROR, "HEADERS on a stream that is not open");
  if (!strip_headers_frame(head, payload)) return end_connection(NGHTTP2_PROTOCOL_ERROR, "padding over its frame");
  const bool ends_stream = head.has(NGHTTP2_FLAG_END_STREAM);
  if (head.has(NGHTTP2_FLAG_END_HEADERS)) return on_block(head.stream, ends_stream, payload);
  block_stream_ = head.stream;
  block_ends_stream_ = ends_stream;
  block_ = payload;
  block_budget_ = kMaxBlockBytes;
}

void Http2Session::on_continuation(const Http2FrameHead& head, std::string_view payload) {
  if (block_stream_ == 0) return end_connection(NGHTTP2_PROTOCOL_ERROR, "CONTINUATION without HEADERS");
  const std::size_t cost = std::max(payload.size(), kCrumbBytes);
  if (cost > block_budget_)
    return end_connection(NGHTTP2_ENHANCE_YOUR_CALM, fmt::format("response headers exceeded {} bytes", kMaxBlockBytes));
  block_budget_ -= cost;
  block_.append(payload);
  if (!head.has(NGHTTP2_FLAG_END_HEADERS)) return;
  const std::string block = std::exchange(block_, {});
  on_block(std::exchange(block_stream_, 0), block_ends_stream_, block);
}

void Http2Session::on_block(std::int32_t id, bool ends_stream, std::string_view block) {
  Http2Stream* const stream = streams_.find(id);
  if (stream != nullptr && stream->state == Http2Stream::State::kOpen && !stream->whole)
    return take_head(*stream, ends_stream, block);
  if (heads_.read(block, nullptr).outcome == Http2HeadReader::Outcome::kUnknown)
    return end_connection(NGHTTP2_COMPRESSION_ERROR);
  if (stream != nullptr && stream->whole) reset(*stream, NGHTTP2_STREAM_CLOSED);
}

void Http2Session::take_head(Http2Stream& stream, bool ends_stream, std::string_view block) {
  Response& response = response_of(stream);
  const bool trailers = response.has_head();
  const Http2HeadReader::Read read = heads_.read(block, &response);
  switch (read.outcome) {
    case Http2HeadReader::Outcome::kUnknown: return end_connection(NGHTTP2_COMPRESSION_ERROR);
    case Http2HeadReader::Outcome::kMalformed: return reset(stream, NGHTTP2_PROTOCOL_ERROR);
    case Http2HeadReader::Outcome::kRefused:
      stream.error = response.error();
      return reset(stream, NGHTTP2_INTERNAL_ERROR);
    case Http2HeadReader::Outcome::kOk: break;
  }
  const bool interim = !response.has_head();
  if (interim ? ends_stream : trailers && !ends_stream) return reset(stream, NGHTTP2_PROTOCOL_ERROR);
  if (interim) return;
  if (!trailers) stream.announced_length = response.bodiless() ? 0 : read.content_length;
  if (ends_stream) end_answer(stream);
}

void Http2Session::on_reset(const Http2FrameHead& head, std::string_view payload) {
  if (payload.size() != 4) return end_connection(NGHTTP2_FRAME_SIZE_ERROR);
  if (!is_known(head.stream)) return end_connection(NGHTTP2_PROTOCOL_ERROR, "RST_STREAM of a stream that is not open");
  Http2Stream* const stream = streams_.find(head.stream);
  if (stream == nullptr) return;
  stream->reset_by_peer = true;
  on_closed(*stream, read_u32(payload.data()));
}

void Http2Session::on_settings(const Http2FrameHead& head, std::string_view payload) {
  if (head.stream != 0) return end_connection(NGHTTP2_PROTOCOL_ERROR, "SETTINGS on a stream");
  if (head.has(NGHTTP2_FLAG_ACK)) {
    if (!payload.empty()) end_connection(NGHTTP2_FRAME_SIZE_ERROR);
    return;
  }
  if (payload.size() % kSettingBytes != 0) return end_connection(NGHTTP2_FRAME_SIZE_ERROR);
  std::int64_t stream_window = stream_window_;
  for (; !payload.empty(); payload.remove_prefix(kSettingBytes)) {
    const auto id = static_cast<std::uint16_t>(read_u32(payload.data()) >> 16);
    if (!apply_setting(id, read_u32(payload.data() + 2), stream_window)) return;
  }
  // Once a frame, which may name the window a thousand times.
  if (stream_window != stream_window_ && !move_send_windows(stream_window - stream_window_))
    return end_connection(NGHTTP2_FLOW_CONTROL_ERROR, "invalid SETTINGS");
  append_frame_head(control_, {.type = NGHTTP2_SETTINGS, .flags = NGHTTP2_FLAG_ACK});
  settled_ = changed_ = true;
}

// False: the connection is over.
bool Http2Session::apply_setting(std::uint16_t id, std::uint32_t value, std::int64_t& stream_window) {
  constexpr std::uint32_t kLargestFrame = (1 << 24) - 1;
  std::uint32_t error = NGHTTP2_NO_ERROR;
  switch (id) {
    case NGHTTP2_SETTINGS_HEADER_TABLE_SIZE: requests_.set_table_size(value); break;
    case NGHTTP2_SETTINGS_ENABLE_PUSH:
      if (value != 0) error = NGHTTP2_PROTOCOL_ERROR;
      break;
    case NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS: most_streams_ = value; break;
    case NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE:
      stream_window = value;
      if (value > kMaxWindow) error = NGHTTP2_FLOW_CONTROL_ERROR;
      break;
    case NGHTTP2_SETTINGS_MAX_FRAME_SIZE:
      if (value < kHttp2FrameBytes || value > kLargestFrame) error = NGHTTP2_PROTOCOL_ERROR;
      break;
    default: break;
  }
  if (error != NGHTTP2_NO_ERROR) end_connection(error, "invalid SETTINGS");
  return error == NGHTTP2_NO_ERROR;
}

// False: one would become larger than a window may be.
bool Http2Session::move_send_windows(std::int64_t by) {
  stream_window_ += by;
  for (Http2Stream* stream = open_.front(); stream != nullptr; stream = OpenList::next(*stream)) {
    // One that was reset, for a window over its limit for example, may still be here.
    if (stream->closed) continue;
    stream->send_window += by;
    if (stream->send_window > kMaxWindow) return false;
    resume(*stream);
  }
  return true;
}

void Http2Session::on_ping(const Http2FrameHead& head, std::string_view payload) {
  if (payload.size() != 8) return end_connection(NGHTTP2_FRAME_SIZE_ERROR);
  if (head.stream != 0) return end_connection(NGHTTP2_PROTOCOL_ERROR, "PING on a stream");
  if (head.has(NGHTTP2_FLAG_ACK)) return;
  append_frame_head(control_, {.size = 8, .type = NGHTTP2_PING, .flags = NGHTTP2_FLAG_ACK});
  control_.append(payload);
}

// What it did not look at is sent again, what is under way ends as it ends.
void Http2Session::on_goaway(const Http2FrameHead& head, std::string_view payload) {
  if (payload.size() < 8) return end_connection(NGHTTP2_FRAME_SIZE_ERROR);
  const auto last = static_cast<std::int32_t>(read_u32(payload.data()) & 0x7FFF'FFFF);
  const bool valid = last == 0 || last % 2 == 1;
  if (head.stream != 0 || !valid || (retired_ && last > last_stream_))
    return end_connection(NGHTTP2_PROTOCOL_ERROR, "invalid GOAWAY");
  takes_requests_ = false;
  changed_ = retired_ = true;
  last_stream_ = last;
  error_ = fmt::format("http2: server sent GOAWAY and closed the connection; LastStreamID={}, ErrCode={}, debug=\"{}\"",
                       last, nghttp2_http2_strerror(read_u32(payload.data() + 4)), printable(payload.substr(8)));
  for (Http2Stream* stream = open_.front(); stream != nullptr; stream = OpenList::next(*stream))
    if (!stream->closed && (stream->id > last || !stream->head_sent)) on_closed(*stream, NGHTTP2_REFUSED_STREAM);
}

void Http2Session::on_window_update(const Http2FrameHead& head, std::string_view payload) {
  if (payload.size() != 4) return end_connection(NGHTTP2_FRAME_SIZE_ERROR);
  const std::int64_t by = read_u32(payload.data()) & 0x7FFF'FFFF;
  if (head.stream == 0) {
    send_window_ += by;
    if (by == 0) end_connection(NGHTTP2_PROTOCOL_ERROR, "WINDOW_UPDATE of 0");
    if (send_window_ > kMaxWindow) end_connection(NGHTTP2_FLOW_CONTROL_ERROR);
    return;
  }
  if (!is_known(head.stream))
    return end_connection(NGHTTP2_PROTOCOL_ERROR, "WINDOW_UPDATE of a stream that is not open");
  Http2Stream* const stream = streams_.find(head.stream);
  if (stream == nullptr) return;
  if (by == 0) return reset(*stream, NGHTTP2_PROTOCOL_ERROR);
  stream->send_window += by;
  if (stream->send_window > kMaxWindow) return reset(*stream, NGHTTP2_FLOW_CONTROL_ERROR);
  resume(*stream);
}

}  // namespace pepe
