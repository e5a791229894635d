// HOT: once per hit. No allocation, lock, log or wall clock. The life of a stream; what is sent and what is read stand
// in http2_session_send.cc and http2_session_frames.cc.
#include "engine/http2_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

#include "engine/http2_windows.h"
#include "engine/limits.h"
#include "engine/reserve.h"

namespace pepe {
namespace {

// For a server that sets no limit.
constexpr std::uint32_t kUnlimitedStreams = 1000;

BlockPool& pool_of(void* memory) { return *static_cast<BlockPool*>(memory); }

// The preface, SETTINGS and a window for the whole connection.
void append_greeting(std::string& out) {
  constexpr std::uint32_t kSettings = 3;
  constexpr std::uint32_t kSettingBytes = 6;
  out.append(NGHTTP2_CLIENT_MAGIC, NGHTTP2_CLIENT_MAGIC_LEN);
  append_frame_head(out, {.size = kSettings * kSettingBytes, .type = NGHTTP2_SETTINGS});
  append_setting(out, NGHTTP2_SETTINGS_ENABLE_PUSH, 0);
  append_setting(out, NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindow);
  append_setting(out, NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, kMaxHeadBytes);
  append_number_frame(out, NGHTTP2_WINDOW_UPDATE, 0, kConnectionWindow - NGHTTP2_INITIAL_CONNECTION_WINDOW_SIZE);
}

}  // namespace

Http2Context::Http2Context(ResponseStash& responses, std::uint64_t keep_limit)
    : responses_{responses},
      keep_limit_{keep_limit},
      memory_{
          .mem_user_data = &blocks_,
          .malloc = [](std::size_t size, void* pool) { return pool_of(pool).allocate(size); },
          .free = [](void* block, void* pool) { pool_of(pool).deallocate(block); },
          .calloc =
              [](std::size_t count, std::size_t size, void* pool) {
                if (size != 0 && count > SIZE_MAX / size) return static_cast<void*>(nullptr);
                void* const block = pool_of(pool).allocate(count * size);
                if (block != nullptr) std::fill_n(static_cast<char*>(block), count * size, '\0');
                return block;
              },
          .realloc = [](void* block, std::size_t size, void* pool) { return pool_of(pool).reallocate(block, size); }} {}

Http2Stream& Http2Context::take_stream() {
  if (free_streams_.empty()) {
    reserve_for(free_streams_, streams_.size() + 1);
    return streams_.emplace_back();
  }
  Http2Stream& stream = *free_streams_.back();
  free_streams_.pop_back();
  return stream;
}

void Http2Context::give_back(Http2Stream& stream) {
  if (stream.response) responses_.give_back(std::move(stream.response));
  stream = Http2Stream{};
  free_streams_.push_back(&stream);
}

Http2Session::Http2Session(Http2Context& context)
    : context_{context},
      heads_{&context.memory_},
      requests_{&context.memory_},
      stream_window_{NGHTTP2_INITIAL_WINDOW_SIZE},
      send_window_{NGHTTP2_INITIAL_CONNECTION_WINDOW_SIZE},
      receive_window_{kConnectionWindow} {
  append_greeting(control_);
}

Http2Session::~Http2Session() {
  while (done_.pop_front() != nullptr) {
  }
  while (unsent_.pop_front() != nullptr) {
  }
  while (contents_.pop_front() != nullptr) {
  }
  while (Http2Stream* const stream = open_.pop_front()) context_.give_back(*stream);
}

Http2Stream& Http2Session::submit(Hit& hit) {
  Http2Stream& stream = context_.take_stream();
  stream.hit = &hit;
  open_.push_back(stream);
  if (next_id_ < 0) {  // out of numbers: another connection has some
    takes_requests_ = false;
    changed_ = stream.closed = true;
    stream.error_code = NGHTTP2_REFUSED_STREAM;
    broken(stream, {});
    return stream;
  }
  stream.id = next_id_;
  next_id_ = next_id_ == INT32_MAX ? -1 : next_id_ + 2;
  if (next_id_ < 0) {
    takes_requests_ = false;
    changed_ = true;
  }
  streams_.insert(stream);
  if (hit.request->content) stream.content = *hit.request->content;
  stream.send_window = stream_window_;
  stream.receive_window = kStreamWindow;
  stream.announced_length = -1;
  unsent_.push_back(stream);
  return stream;
}

bool Http2Session::detach(Http2Stream& stream) {
  stream.hit = nullptr;
  if (DoneList::contains(stream)) done_.erase(stream);
  const bool resets = !stream.closed && stream.head_sent;
  if (resets) append_number_frame(control_, NGHTTP2_RST_STREAM, stream.id, NGHTTP2_CANCEL);
  if (!stream.closed) close(stream);
  forget(stream);
  return resets;
}

void Http2Session::forget(Http2Stream& stream) {
  open_.erase(stream);
  context_.give_back(stream);
}

Http2Stream* Http2Session::next_unfinished() noexcept {
  Http2Stream* stream = open_.front();
  while (stream != nullptr && stream->hit == nullptr) stream = OpenList::next(*stream);
  return stream;
}

Response& Http2Session::response_of(Http2Stream& stream) {
  if (!stream.response) {
    stream.response = context_.responses_.take();
    stream.response->start_parts(expectation_for(*stream.hit, context_.keep_limit_));
  }
  return *stream.response;
}

void Http2Session::unpack() {
  unpacking_ = false;
  for (Http2Stream* stream = open_.front(); stream != nullptr; stream = OpenList::next(*stream)) {
    if (stream->state != Http2Stream::State::kOpen || stream->response == nullptr || !stream->response->busy())
      continue;
    switch (stream->response->go_on()) {
      case Response::Status::kNeedMore: break;
      case Response::Status::kBusy: unpacking_ = true; break;
      case Response::Status::kError: broken(*stream, stream->response->error()); break;
      case Response::Status::kComplete:
        stream->state = Http2Stream::State::kAnswered;
        done_.push_back(*stream);
        break;
    }
  }
}

bool Http2Session::finished() const noexcept {
  return !unpacking_ && !wants_write() && (ended_ || (retired_ && open_.empty()));
}

bool Http2Session::take_change() noexcept { return std::exchange(changed_, false); }

std::uint32_t Http2Session::capacity() const noexcept {
  if (!settled_) return 1;
  return most_streams_ == UINT32_MAX ? kUnlimitedStreams : most_streams_;
}

// The last byte of the answer was read.
void Http2Session::end_answer(Http2Stream& stream) {
  const bool short_of = stream.announced_length >= 0 &&
                        static_cast<std::uint64_t>(stream.announced_length) != stream.response->bytes_read();
  if (short_of) return reset(stream, NGHTTP2_PROTOCOL_ERROR);
  answered(stream);
}

void Http2Session::answered(Http2Stream& stream) {
  stream.whole = true;
  if (stream.sent) close(stream);
  if (!stream.response->finish()) return broken(stream, stream.response->error());
  if (stream.response->busy()) return;
  stream.state = Http2Stream::State::kAnswered;
  done_.push_back(stream);
}

void Http2Session::broken(Http2Stream& stream, std::string error) {
  stream.state = Http2Stream::State::kBroken;
  stream.error = std::move(error);
  done_.push_back(stream);
}

// REQUIRES: not closed.
void Http2Session::close(Http2Stream& stream) {
  stream.closed = true;
  stream.content = {};
  streams_.erase(stream);
  if (SendList::contains(stream)) (stream.head_sent ? contents_ : unsent_).erase(stream);
  if (stream.head_sent) --under_way_;
}

void Http2Session::on_closed(Http2Stream& stream, std::uint32_t error_code) {
  close(stream);
  if (stream.state != Http2Stream::State::kOpen || stream.whole) return;
  stream.error_code = error_code;
  broken(stream, std::move(stream.error));
}

// The server did on the stream what it may not.
void Http2Session::reset(Http2Stream& stream, std::uint32_t error_code) {
  append_number_frame(control_, NGHTTP2_RST_STREAM, stream.id, error_code);
  on_closed(stream, error_code);
}

// The text needs no memory of its own.
void Http2Session::run_out_of_memory() noexcept {
  error_ = "out of memory";
  takes_requests_ = false;
  changed_ = true;
}

// The first error counts: what follows comes of it. A farewell is none yet.
bool Http2Session::fail(std::string error) {
  if (!ended_) error_ = std::move(error);
  takes_requests_ = false;
  changed_ = true;
  return false;
}

// Nothing more is read, and nothing sent but the reason.
void Http2Session::end_connection(std::uint32_t error_code, std::string_view reason) {
  constexpr std::size_t kNumbers = 8;
  fail(fmt::format("connection error: {}{}{}", nghttp2_http2_strerror(error_code), reason.empty() ? "" : ": ", reason));
  append_frame_head(control_, {.size = static_cast<std::uint32_t>(kNumbers + reason.size()), .type = NGHTTP2_GOAWAY});
  append_u32(control_, 0);
  append_u32(control_, error_code);
  control_.append(reason);
  ended_ = true;
}

std::string stream_error_text(const Http2Stream& stream) {
  if (!stream.error.empty()) return stream.error;
  return fmt::format("stream error: stream ID {}; {}{}", stream.id, nghttp2_http2_strerror(stream.error_code),
                     stream.reset_by_peer ? "; received from peer" : "");
}

}  // namespace pepe
