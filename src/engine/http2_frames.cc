// HOT: several times per HTTP/2 hit. No allocation once warm.
#include "engine/http2_frames.h"

#include <algorithm>
#include <utility>

namespace pepe {
namespace {

unsigned byte_at(std::string_view bytes, std::size_t i) { return static_cast<unsigned char>(bytes[i]); }

// RFC 9113 4.1; the bit in front of the stream's number means nothing.
Http2FrameHead parse_head(std::string_view bytes) {
  return {.size = byte_at(bytes, 0) << 16 | byte_at(bytes, 1) << 8 | byte_at(bytes, 2),
          .type = static_cast<std::uint8_t>(byte_at(bytes, 3)),
          .flags = static_cast<std::uint8_t>(byte_at(bytes, 4)),
          .stream = static_cast<std::int32_t>(read_u32(bytes.data() + 5) & 0x7FFF'FFFF)};
}

}  // namespace

std::uint32_t read_u32(const char* at) noexcept {
  const std::string_view bytes{at, 4};
  return byte_at(bytes, 0) << 24 | byte_at(bytes, 1) << 16 | byte_at(bytes, 2) << 8 | byte_at(bytes, 3);
}

void append_u32(std::string& out, std::uint32_t value) {
  const char bytes[4] = {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
                         static_cast<char>(value)};
  out.append(bytes, sizeof bytes);
}

void append_frame_head(std::string& out, const Http2FrameHead& head) {
  const auto stream = static_cast<std::uint32_t>(head.stream);
  const char bytes[Http2FrameHead::kBytes] = {
      static_cast<char>(head.size >> 16), static_cast<char>(head.size >> 8), static_cast<char>(head.size),
      static_cast<char>(head.type),       static_cast<char>(head.flags),     static_cast<char>(stream >> 24),
      static_cast<char>(stream >> 16),    static_cast<char>(stream >> 8),    static_cast<char>(stream)};
  out.append(bytes, sizeof bytes);
}

void set_frame_size(std::string& out, std::size_t at, std::size_t size) noexcept {
  out[at] = static_cast<char>(size >> 16);
  out[at + 1] = static_cast<char>(size >> 8);
  out[at + 2] = static_cast<char>(size);
}

void append_number_frame(std::string& out, std::uint8_t type, std::int32_t stream, std::uint32_t value) {
  append_frame_head(out, {.size = 4, .type = type, .stream = stream});
  append_u32(out, value);
}

void append_setting(std::string& out, std::uint16_t id, std::uint32_t value) {
  out.push_back(static_cast<char>(id >> 8));
  out.push_back(static_cast<char>(id));
  append_u32(out, value);
}

// True: `whole` holds the next `size` bytes.
bool Http2FrameReader::collect(std::string_view& bytes, std::size_t size, std::string_view& whole) {
  if (std::exchange(used_, false)) pending_.clear();
  if (pending_.empty() && bytes.size() >= size) {
    whole = bytes.substr(0, size);
    bytes.remove_prefix(size);
    return true;
  }
  const std::size_t taken = std::min(bytes.size(), size - pending_.size());
  pending_.append(bytes.substr(0, taken));
  bytes.remove_prefix(taken);
  if (pending_.size() < size) return false;
  whole = pending_;
  used_ = true;
  return true;
}

bool Http2FrameReader::read_head(std::string_view& bytes) {
  std::string_view head;
  if (!collect(bytes, Http2FrameHead::kBytes, head)) return false;
  head_ = parse_head(head);
  first_ = true;
  content_ = head_.size;
  padding_ = 0;
  state_ = head_.type != NGHTTP2_DATA       ? State::kPayload
           : head_.has(NGHTTP2_FLAG_PADDED) ? State::kPadLength
                                            : State::kContent;
  return true;
}

Http2FrameReader::Piece Http2FrameReader::next(std::string_view& bytes) {
  using Kind = Piece::Kind;
  if (state_ == State::kHead) {
    if (!read_head(bytes)) return {};
    if (head_.size > kHttp2FrameBytes) return {.kind = Kind::kOversize, .head = head_};
  }
  if (state_ == State::kPayload) {
    std::string_view payload;
    if (!collect(bytes, head_.size, payload)) return {};
    state_ = State::kHead;
    return {.kind = Kind::kFrame, .head = head_, .payload = payload};
  }
  if (state_ == State::kPadLength) {
    if (head_.size == 0) return {.kind = Kind::kBadPadding, .head = head_};
    if (bytes.empty()) return {};
    padding_ = static_cast<unsigned char>(bytes[0]);
    bytes.remove_prefix(1);
    if (padding_ >= head_.size) return {.kind = Kind::kBadPadding, .head = head_};
    content_ = head_.size - 1 - padding_;
    state_ = State::kContent;
  }
  return read_content(bytes);
}

Http2FrameReader::Piece Http2FrameReader::read_content(std::string_view& bytes) {
  Piece piece{.kind = Piece::Kind::kData, .head = head_, .payload = bytes.substr(0, content_), .content = content_};
  bytes.remove_prefix(piece.payload.size());
  content_ -= static_cast<std::uint32_t>(piece.payload.size());
  const std::size_t skipped = std::min<std::size_t>(bytes.size(), padding_);
  if (content_ == 0) {
    bytes.remove_prefix(skipped);
    padding_ -= static_cast<std::uint32_t>(skipped);
  }
  piece.first = std::exchange(first_, false);
  piece.last = content_ == 0 && padding_ == 0;
  if (piece.last) state_ = State::kHead;
  if (!piece.first && !piece.last && piece.payload.empty()) return {};
  return piece;
}

}  // namespace pepe
