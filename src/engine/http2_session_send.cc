// HOT: once per hit. No allocation, lock, log or wall clock. What an HTTP/2 connection has to send.
#include <algorithm>
#include <new>

#include "engine/http2_session.h"

namespace pepe {
namespace {

constexpr std::size_t kBatchBytes = 64 * 1024;

}  // namespace

bool Http2Session::wants_write() const noexcept {
  if (!control_.empty()) return true;
  if (ended_) return false;
  return (!unsent_.empty() && under_way_ < most_streams_) || (!contents_.empty() && send_window_ > 0);
}

bool Http2Session::gather(std::string& out) {
  try {
    out.append(control_);
    control_.clear();
    if (ended_) return true;
    send_requests(out);
    send_contents(out);
    return true;
  } catch (const std::bad_alloc&) {
    run_out_of_memory();
    return false;
  }
}

void Http2Session::send_requests(std::string& out) {
  while (out.size() < kBatchBytes && under_way_ < most_streams_) {
    Http2Stream* const stream = unsent_.front();
    if (stream == nullptr) return;
    send_head(*stream, out);
  }
}

void Http2Session::send_head(Http2Stream& stream, std::string& out) {
  const Hit& hit = *stream.hit;
  // The requests of the target list outlive every connection; one that was made for a hit ends with it.
  const bool lasting = hit.owned == nullptr && hit.redirection == nullptr;
  std::size_t frame = out.size();
  const std::uint8_t end = stream.content.empty() ? NGHTTP2_FLAG_END_STREAM : NGHTTP2_FLAG_NONE;
  append_frame_head(out, {.type = NGHTTP2_HEADERS,
                          .flags = static_cast<std::uint8_t>(end | NGHTTP2_FLAG_END_HEADERS),
                          .stream = stream.id});
  if (!requests_.append(out, *hit.request, lasting, hit.seq)) {
    out.resize(frame);
    stream.error = "http2: the request's headers are too large";
    return on_closed(stream, NGHTTP2_INTERNAL_ERROR);
  }
  std::size_t size = out.size() - frame - Http2FrameHead::kBytes;
  if (size > kHttp2FrameBytes) out[frame + 4] = static_cast<char>(end);  // no END_HEADERS
  while (size > kHttp2FrameBytes) {
    set_frame_size(out, frame, kHttp2FrameBytes);
    frame += Http2FrameHead::kBytes + kHttp2FrameBytes;
    size -= kHttp2FrameBytes;
    std::string head;
    const bool last = size <= kHttp2FrameBytes;
    append_frame_head(head, {.type = NGHTTP2_CONTINUATION,
                             .flags = static_cast<std::uint8_t>(last ? NGHTTP2_FLAG_END_HEADERS : NGHTTP2_FLAG_NONE),
                             .stream = stream.id});
    out.insert(frame, head);
  }
  set_frame_size(out, frame, size);
  unsent_.erase(stream);
  stream.head_sent = true;
  last_sent_ = stream.id;
  ++under_way_;
  if (stream.content.empty()) return finish_request(stream);
  contents_.push_back(stream);
}

// A frame of each in turn.
void Http2Session::send_contents(std::string& out) {
  while (out.size() < kBatchBytes && send_window_ > 0) {
    Http2Stream* const stream = contents_.pop_front();
    if (stream == nullptr) return;
    if (stream->send_window > 0) send_content(*stream, out);  // else it waits for its window
  }
}

void Http2Session::send_content(Http2Stream& stream, std::string& out) {
  const std::int64_t most = std::min({send_window_, stream.send_window, std::int64_t{kHttp2FrameBytes}});
  const std::string_view content = stream.content.substr(0, static_cast<std::size_t>(most));
  stream.content.remove_prefix(content.size());
  const bool last = stream.content.empty();
  append_frame_head(out, {.size = static_cast<std::uint32_t>(content.size()),
                          .type = NGHTTP2_DATA,
                          .flags = static_cast<std::uint8_t>(last ? NGHTTP2_FLAG_END_STREAM : NGHTTP2_FLAG_NONE),
                          .stream = stream.id});
  out.append(content);
  send_window_ -= static_cast<std::int64_t>(content.size());
  stream.send_window -= static_cast<std::int64_t>(content.size());
  if (last) return finish_request(stream);
  contents_.push_back(stream);
}

void Http2Session::finish_request(Http2Stream& stream) {
  stream.sent = true;
  if (stream.whole) close(stream);
}

// Its window may be open again.
void Http2Session::resume(Http2Stream& stream) {
  if (stream.head_sent && !stream.content.empty() && stream.send_window > 0 && !SendList::contains(stream))
    contents_.push_back(stream);
}

}  // namespace pepe
