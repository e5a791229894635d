#include "bench/http2_answers.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace pepe {
namespace {

enum Type : std::uint8_t {
  kData = 0,
  kHeaders = 1,
  kResetStream = 3,
  kSettings = 4,
  kPing = 6,
  kGoAway = 7,
  kWindowUpdate = 8,
  kContinuation = 9
};
enum Flag : std::uint8_t { kEndStream = 1, kAck = 1, kEndHeaders = 4 };
enum Setting : std::uint16_t { kHeaderTableSize = 1, kMaxStreams = 3, kInitialWindow = 4 };

constexpr std::size_t kFrameHead = 9;
constexpr std::size_t kMaxFrame = 16384;
constexpr std::int64_t kRequestWindow = INT32_MAX;

std::uint32_t number(std::string_view bytes) {
  std::uint32_t value = 0;
  for (const char byte : bytes) value = value << 8 | static_cast<std::uint8_t>(byte);
  return value;
}

void append_number(std::uint32_t value, int bytes, std::string& out) {
  for (int i = bytes - 1; i >= 0; --i) out.push_back(static_cast<char>(value >> (8 * i)));
}

void append_frame_head(std::size_t size, Type type, int flags, std::uint32_t stream, std::string& out) {
  append_number(static_cast<std::uint32_t>(size), 3, out);
  out.push_back(static_cast<char>(type));
  out.push_back(static_cast<char>(flags));
  append_number(stream, 4, out);
}

void append_setting(Setting name, std::uint32_t value, std::string& out) {
  append_number(name, 2, out);
  append_number(value, 4, out);
}

void append_window_update(std::uint32_t stream, std::int64_t bytes, std::string& out) {
  append_frame_head(4, kWindowUpdate, 0, stream, out);
  append_number(static_cast<std::uint32_t>(bytes), 4, out);
}

// A header block (RFC 7541). The names are those of the static table; the values are put into the client's table by the
// first answer and named by their places in it from then on, as servers do.
std::string header_block(std::size_t size, bool may_index, bool has_indexed) {
  struct Field {
    int name;
    std::string value;
  };
  constexpr int kFirstOwn = 62;
  const Field fields[] = {{54, "bench"}, {31, "text/plain"}, {28, std::to_string(size)}};
  std::string block;
  if (!may_index) block += '\x20';  // the table's size is 0
  block += '\x88';                  // :status: 200
  int place = kFirstOwn + static_cast<int>(std::size(fields));
  for (const Field& field : fields) {
    if (has_indexed) {
      block += static_cast<char>(0x80 | --place);
      continue;
    }
    if (may_index) {
      block += static_cast<char>(0x40 | field.name);
    } else {
      block += '\x0f';
      block += static_cast<char>(field.name - 0x0f);
    }
    block += static_cast<char>(field.value.size());
    block += field.value;
  }
  return block;
}

}  // namespace

Http2Answers::Http2Answers(std::string_view body, std::uint32_t streams, std::string& out) : body_{body} {
  append_frame_head(12, kSettings, 0, 0, out);
  append_setting(kMaxStreams, streams, out);
  append_setting(kInitialWindow, static_cast<std::uint32_t>(kRequestWindow), out);
  append_window_update(0, kRequestWindow - window_, out);
}

std::optional<std::uint32_t> Http2Answers::feed(std::string_view bytes, std::string& out) {
  count_ = 0;
  std::size_t used = 0;
  if (partial_.empty()) {
    if (!scan(bytes, used, out)) return std::nullopt;
    partial_.assign(bytes.substr(used));
  } else {
    partial_.append(bytes);
    if (!scan(partial_, used, out)) return std::nullopt;
    partial_.erase(0, used);
  }
  return count_;
}

bool Http2Answers::scan(std::string_view bytes, std::size_t& used, std::string& out) {
  if (preface_left_ > 0) {
    used = std::min(preface_left_, bytes.size());
    if (kHttp2Preface.substr(kHttp2Preface.size() - preface_left_, used) != bytes.substr(0, used)) return false;
    preface_left_ -= used;
  }
  while (bytes.size() - used >= kFrameHead) {
    const std::size_t size = number(bytes.substr(used, 3));
    if (size > kMaxFrame) return false;
    if (bytes.size() - used - kFrameHead < size) break;
    const Frame frame{static_cast<std::uint8_t>(bytes[used + 3]), static_cast<std::uint8_t>(bytes[used + 4]),
                      number(bytes.substr(used + 5, 4)) & INT32_MAX, bytes.substr(used + kFrameHead, size)};
    used += kFrameHead + size;
    if (!on_frame(frame, out)) return false;
  }
  return true;
}

bool Http2Answers::on_frame(const Frame& frame, std::string& out) {
  switch (frame.type) {
    case kHeaders: on_headers(frame); return true;
    case kContinuation:
      if (in_block_ == 0) return false;
      if ((frame.flags & kEndHeaders) != 0) on_header_block_end();
      return true;
    case kData: on_data(frame, out); return true;
    case kSettings:
      if ((frame.flags & kAck) == 0) on_settings(frame.payload, out);
      return true;
    case kWindowUpdate:
      if (frame.payload.size() != 4) return false;
      on_window_update(frame, out);
      return true;
    case kPing:
      if ((frame.flags & kAck) != 0) return true;
      append_frame_head(frame.payload.size(), kPing, kAck, 0, out);
      out += frame.payload;
      return true;
    case kResetStream:
      std::erase_if(streams_, [&frame](const Stream& stream) { return stream.id == frame.stream; });
      return true;
    default: return frame.type != kGoAway;
  }
}

// A second block of a stream is its trailers.
void Http2Answers::on_headers(const Frame& frame) {
  Stream* stream = find(frame.stream);
  if (stream == nullptr) stream = &streams_.emplace_back(Stream{.id = frame.stream, .window = stream_window_});
  stream->ended = (frame.flags & kEndStream) != 0;
  in_block_ = frame.stream;
  if ((frame.flags & kEndHeaders) != 0) on_header_block_end();
}

void Http2Answers::on_header_block_end() {
  if (Stream* stream = find(in_block_); stream != nullptr && stream->ended) end_request(*stream);
  in_block_ = 0;
}

void Http2Answers::on_data(const Frame& frame, std::string& out) {
  const auto size = static_cast<std::int64_t>(frame.payload.size());
  unacknowledged_ += size;
  if (unacknowledged_ >= kRequestWindow / 2) append_window_update(0, std::exchange(unacknowledged_, 0), out);
  Stream* stream = find(frame.stream);
  if (stream == nullptr) return;
  if ((frame.flags & kEndStream) != 0) return end_request(*stream);
  if (size > 0) append_window_update(frame.stream, size, out);
}

void Http2Answers::on_settings(std::string_view settings, std::string& out) {
  for (; settings.size() >= 6; settings.remove_prefix(6)) {
    const std::uint32_t name = number(settings.substr(0, 2));
    const std::uint32_t value = number(settings.substr(2, 4));
    if (name == kHeaderTableSize && value < 4096) may_index_ = has_indexed_ = false;
    if (name != kInitialWindow) continue;
    for (Stream& stream : streams_) stream.window += value - stream_window_;
    stream_window_ = value;
  }
  append_frame_head(0, kSettings, kAck, 0, out);
  append_waiting_bodies(out);
}

void Http2Answers::on_window_update(const Frame& frame, std::string& out) {
  const std::uint32_t more = number(frame.payload) & INT32_MAX;
  if (frame.stream == 0) {
    window_ += more;
  } else if (Stream* stream = find(frame.stream); stream != nullptr) {
    stream->window += more;
  }
  append_waiting_bodies(out);
}

void Http2Answers::end_request(Stream& stream) {
  ++count_;
  unanswered_.push_back(stream.id);
}

Http2Answers::Stream* Http2Answers::find(std::uint32_t id) {
  const auto at =
      std::find_if(streams_.begin(), streams_.end(), [id](const Stream& stream) { return stream.id == id; });
  return at == streams_.end() ? nullptr : &*at;
}

void Http2Answers::answer(std::uint32_t count, std::string& out) {
  for (; count > 0 && !unanswered_.empty(); --count) {
    const std::uint32_t id = unanswered_.front();
    unanswered_.pop_front();
    Stream* stream = find(id);
    if (stream == nullptr) continue;  // reset meanwhile
    append_head(*stream, out);
    if (append_body(*stream, out)) std::erase_if(streams_, [id](const Stream& one) { return one.id == id; });
  }
}

void Http2Answers::append_head(Stream& stream, std::string& out) {
  const std::string block = header_block(body_.size(), may_index_, has_indexed_);
  has_indexed_ = may_index_;
  append_frame_head(block.size(), kHeaders, kEndHeaders | (body_.empty() ? kEndStream : 0), stream.id, out);
  out += block;
  stream.is_answered = true;
}

// True when the stream is at its end.
bool Http2Answers::append_body(Stream& stream, std::string& out) {
  while (stream.sent < body_.size()) {
    const std::int64_t room = std::min(window_, stream.window);
    if (room <= 0) return false;
    const std::size_t size = std::min({body_.size() - stream.sent, kMaxFrame, static_cast<std::size_t>(room)});
    const bool last = stream.sent + size == body_.size();
    append_frame_head(size, kData, last ? kEndStream : 0, stream.id, out);
    out += body_.substr(stream.sent, size);
    stream.sent += size;
    stream.window -= static_cast<std::int64_t>(size);
    window_ -= static_cast<std::int64_t>(size);
  }
  return true;
}

void Http2Answers::append_waiting_bodies(std::string& out) {
  std::erase_if(streams_, [this, &out](Stream& stream) { return stream.is_answered && append_body(stream, out); });
}

}  // namespace pepe
