// HOT: once per hit. No allocation, lock, log or wall clock.
#include "engine/http2_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <new>
#include <tuple>
#include <utility>

#include "engine/reserve.h"
#include "engine/shortage.h"

namespace pepe {
namespace {

constexpr std::size_t kBatchBytes = 64 * 1024;
// Of an answer's head, decoded; announced, and enforced by Response.
constexpr std::uint32_t kMaxHeaderList = 1024 * 1024;
constexpr std::size_t kMaxRequestHeaders = 1024 * 1024;
// The server never waits for a window: a hit's body is read as it comes, and kept as far as asked.
constexpr std::int32_t kStreamWindow = 4 * 1024 * 1024;
constexpr std::int32_t kConnectionWindow = 1 << 30;
// For a server that sets no limit.
constexpr std::uint32_t kUnlimitedStreams = 1000;
constexpr std::size_t kMaxShownDebug = 200;
constexpr std::string_view kSequenceField = "x-vegeta-seq";

std::uint8_t* bytes_of(std::string_view text) {
  return const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(text.data()));
}
std::string_view text_of(const std::uint8_t* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

BlockPool& pool_of(void* memory) { return *static_cast<BlockPool*>(memory); }

std::string printable(std::string_view text) {
  std::string shown{text.substr(0, kMaxShownDebug)};
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return c < 0x20 || c > 0x7E || c == '"'; }, '.');
  return shown;
}

}  // namespace

struct Http2Session::Callbacks {
  static Http2Session& self(void* user) { return *static_cast<Http2Session*>(user); }

  static int on_header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name, std::size_t name_size,
                       const std::uint8_t* value, std::size_t value_size, std::uint8_t, void* user) {
    Http2Session& session = self(user);
    Http2Stream* const stream = session.find(frame->hd.stream_id);
    if (stream == nullptr || stream->state != Http2Stream::State::kOpen || stream->hit == nullptr) return 0;
    Response& response = session.response_of(*stream);
    if (response.add_field(text_of(name, name_size), text_of(value, value_size))) return 0;
    session.broken(*stream, response.error());
    stream->resetting = true;  // nghttp2 does it for this:
    return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  }
  static int on_data(nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* data, std::size_t size,
                     void* user) {
    Http2Session& session = self(user);
    Http2Stream* const stream = session.find(id);
    if (stream == nullptr || stream->state != Http2Stream::State::kOpen || stream->response == nullptr) return 0;
    if (!stream->response->add_body(text_of(data, size))) session.broken(*stream, stream->response->error());
    session.unpacking_ = session.unpacking_ || stream->response->busy();
    return 0;
  }
  static int on_frame_received(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    self(user).on_frame(*frame);
    return 0;
  }
  static int on_frame_sent(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    Http2Session& session = self(user);
    const bool ends_request = frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS;
    if (ends_request && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
      if (Http2Stream* const stream = session.find(frame->hd.stream_id)) stream->sent = true;
    }
    if (frame->hd.type == NGHTTP2_GOAWAY && frame->goaway.error_code != NGHTTP2_NO_ERROR) {
      const std::string_view reason = text_of(frame->goaway.opaque_data, frame->goaway.opaque_data_len);
      session.fail(fmt::format("connection error: {}{}{}", nghttp2_http2_strerror(frame->goaway.error_code),
                               reason.empty() ? "" : ": ", printable(reason)));
    }
    return 0;
  }
  static int on_frame_not_sent(nghttp2_session*, const nghttp2_frame* frame, int error, void* user) {
    Http2Session& session = self(user);
    if (frame->hd.type != NGHTTP2_HEADERS) return 0;
    if (Http2Stream* const stream = session.find(frame->hd.stream_id)) {  // its close will be told
      if (error == NGHTTP2_ERR_FRAME_SIZE_ERROR) stream->error = "http2: the request's headers are too large";
      return 0;
    }
    for (Http2Stream* stream = session.open_.front(); stream != nullptr; stream = OpenList::next(*stream)) {
      if (stream->id != frame->hd.stream_id) continue;
      session.on_closed(*stream, NGHTTP2_REFUSED_STREAM);
      break;
    }
    return 0;
  }
  static int on_stream_closed(nghttp2_session*, std::int32_t id, std::uint32_t error_code, void* user) {
    Http2Session& session = self(user);
    if (Http2Stream* const stream = session.find(id)) session.on_closed(*stream, error_code);
    return 0;
  }
  // Nothing is thrown through nghttp2: a connection that finds no memory fails like any other. The last argument of
  // each callback is the session.
  template <auto kCall, class... Args>
  static int guarded(Args... args) {
    try {
      return kCall(args...);
    } catch (const std::bad_alloc&) {
      self(std::get<sizeof...(Args) - 1>(std::tie(args...))).run_out_of_memory();
      return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
  }

  static ssize_t read_content(nghttp2_session*, std::int32_t, std::uint8_t* to, std::size_t size, std::uint32_t* flags,
                              nghttp2_data_source* source, void*) {
    auto& stream = *static_cast<Http2Stream*>(source->ptr);
    if (stream.hit == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;  // its Request may be gone
    const std::size_t count = stream.content.copy(reinterpret_cast<char*>(to), size);
    stream.content.remove_prefix(count);
    if (stream.content.empty()) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(count);
  }
};

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
          .realloc = [](void* block, std::size_t size, void* pool) { return pool_of(pool).reallocate(block, size); }} {
  nghttp2_session_callbacks* callbacks = nullptr;
  require_memory(nghttp2_session_callbacks_new(&callbacks) == 0);
  callbacks_.reset(callbacks);
  using Callbacks = Http2Session::Callbacks;
  nghttp2_session_callbacks_set_on_header_callback(callbacks, Callbacks::guarded<Callbacks::on_header>);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, Callbacks::guarded<Callbacks::on_data>);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, Callbacks::guarded<Callbacks::on_frame_received>);
  nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, Callbacks::guarded<Callbacks::on_frame_sent>);
  nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks, Callbacks::guarded<Callbacks::on_frame_not_sent>);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, Callbacks::guarded<Callbacks::on_stream_closed>);
  nghttp2_option* option = nullptr;
  require_memory(nghttp2_option_new(&option) == 0);
  option_.reset(option);
  nghttp2_option_set_no_closed_streams(option, 1);
  nghttp2_option_set_max_send_header_block_length(option, kMaxRequestHeaders);
}

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

Http2Session::Http2Session(Http2Context& context) : context_{context} {
  require_memory(nghttp2_session_client_new3(&session_, context.callbacks_.get(), this, context.option_.get(),
                                             &context.memory_) == 0);
  const std::array<nghttp2_settings_entry, 3> settings{{{NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
                                                        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindow},
                                                        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, kMaxHeaderList}}};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, kConnectionWindow);
}

Http2Session::~Http2Session() {
  nghttp2_session_del(session_);
  while (done_.pop_front() != nullptr) {
  }
  while (Http2Stream* const stream = open_.pop_front()) context_.give_back(*stream);
}

Http2Stream& Http2Session::submit(Hit& hit) {
  Http2Stream& stream = context_.take_stream();
  stream.hit = &hit;
  open_.push_back(stream);
  const Request& request = *hit.request;
  // The requests of the target list outlive every frame; one that was made for a hit ends with it.
  const bool lasting = hit.owned == nullptr && hit.redirection == nullptr;
  const std::uint8_t flags =
      lasting ? NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE : NGHTTP2_NV_FLAG_NONE;
  auto& fields = context_.fields_;
  fields.clear();
  for (const auto& [name, value] : request.fields)
    fields.push_back({bytes_of(name), bytes_of(value), name.size(), value.size(), flags});
  // Different each time: in the table of HPACK it would only push out what repeats.
  char digits[20];
  const char* const end = std::to_chars(digits, digits + sizeof digits, hit.seq).ptr;
  fields.push_back({bytes_of(kSequenceField), bytes_of(digits), kSequenceField.size(),
                    static_cast<std::size_t>(end - digits), NGHTTP2_NV_FLAG_NO_INDEX | NGHTTP2_NV_FLAG_NO_COPY_NAME});
  nghttp2_data_provider content{};
  if (request.content) {
    stream.content = *request.content;
    content.source.ptr = &stream;
    content.read_callback = Callbacks::read_content;
  }
  const std::int32_t id = nghttp2_submit_request(session_, nullptr, fields.data(), fields.size(),
                                                 request.content ? &content : nullptr, &stream);
  if (id > 0) {
    stream.id = id;
  } else {  // out of stream numbers: another connection has some
    takes_requests_ = false;
    changed_ = true;
    on_closed(stream, NGHTTP2_REFUSED_STREAM);
  }
  return stream;
}

bool Http2Session::detach(Http2Stream& stream) {
  stream.hit = nullptr;
  stream.content = {};
  if (DoneList::contains(stream)) done_.erase(stream);
  if (stream.closed) {
    forget(stream);
    return false;
  }
  if (stream.response) context_.responses_.give_back(std::move(stream.response));
  if (stream.resetting) return false;
  stream.resetting = true;
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream.id, NGHTTP2_CANCEL);
  return true;
}

void Http2Session::forget(Http2Stream& stream) {
  open_.erase(stream);
  context_.give_back(stream);
}

Http2Stream* Http2Session::find(std::int32_t id) const noexcept {
  return static_cast<Http2Stream*>(nghttp2_session_get_stream_user_data(session_, id));
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

bool Http2Session::feed(std::string_view bytes) {
  if (!std::exchange(begun_, true) && bytes.starts_with("HTTP/"))
    return fail("connection error: the server speaks HTTP/1");
  const ssize_t used = nghttp2_session_mem_recv(session_, bytes_of(bytes), bytes.size());
  return used >= 0 || fail(fmt::format("connection error: {}", nghttp2_strerror(static_cast<int>(used))));
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

bool Http2Session::gather(std::string& out) {
  while (out.size() < kBatchBytes) {
    const std::uint8_t* data = nullptr;
    const ssize_t size = nghttp2_session_mem_send(session_, &data);
    if (size < 0) return fail(fmt::format("connection error: {}", nghttp2_strerror(static_cast<int>(size))));
    if (size == 0) break;
    out.append(text_of(data, static_cast<std::size_t>(size)));
  }
  return true;
}

bool Http2Session::finished() const noexcept {
  return !unpacking_ && nghttp2_session_want_read(session_) == 0 && nghttp2_session_want_write(session_) == 0;
}

bool Http2Session::take_change() noexcept { return std::exchange(changed_, false); }

std::uint32_t Http2Session::capacity() const noexcept {
  if (!settled_) return 1;
  const std::uint32_t limit = nghttp2_session_get_remote_settings(session_, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
  return limit == UINT32_MAX ? kUnlimitedStreams : limit;
}

// Called with whole frames; headers and data have been taken piece by piece before.
void Http2Session::on_frame(const nghttp2_frame& frame) {
  switch (frame.hd.type) {
    case NGHTTP2_SETTINGS:
      if ((frame.hd.flags & NGHTTP2_FLAG_ACK) == 0) settled_ = changed_ = true;
      return;
    case NGHTTP2_GOAWAY: return on_goaway(frame.goaway);
    case NGHTTP2_HEADERS:
    case NGHTTP2_DATA:
    case NGHTTP2_RST_STREAM: break;
    default: return;
  }
  Http2Stream* const stream = find(frame.hd.stream_id);
  if (stream == nullptr || stream->state != Http2Stream::State::kOpen || stream->hit == nullptr) return;
  if (frame.hd.type == NGHTTP2_RST_STREAM) {
    stream->reset_by_peer = true;
    return;
  }
  Response& response = response_of(*stream);
  if (frame.hd.type == NGHTTP2_HEADERS && !response.has_head() && !response.end_head())
    return broken(*stream, response.error());
  if ((frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) answered(*stream);
}

void Http2Session::on_goaway(const nghttp2_goaway& goaway) {
  takes_requests_ = false;
  changed_ = true;
  last_stream_ = goaway.last_stream_id;
  const std::string_view debug = text_of(goaway.opaque_data, goaway.opaque_data_len);
  error_ = fmt::format("http2: server sent GOAWAY and closed the connection; LastStreamID={}, ErrCode={}, debug=\"{}\"",
                       goaway.last_stream_id, nghttp2_http2_strerror(goaway.error_code), printable(debug));
}

void Http2Session::answered(Http2Stream& stream) {
  stream.whole = true;
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

void Http2Session::on_closed(Http2Stream& stream, std::uint32_t error_code) {
  stream.closed = true;
  if (stream.hit == nullptr) return forget(stream);
  if (stream.state != Http2Stream::State::kOpen || stream.whole) return;
  // An end that is no answer and no reset either: nghttp2 found the answer malformed.
  stream.error_code = error_code;
  if (error_code == NGHTTP2_NO_ERROR && !stream.reset_by_peer) stream.error_code = NGHTTP2_PROTOCOL_ERROR;
  broken(stream, std::move(stream.error));
}

// The text needs no memory of its own.
void Http2Session::run_out_of_memory() noexcept {
  error_ = "out of memory";
  takes_requests_ = false;
  changed_ = true;
}

// The first error counts: what follows comes of it.
bool Http2Session::fail(std::string error) {
  if (takes_requests_ || error_.empty()) error_ = std::move(error);
  takes_requests_ = false;
  changed_ = true;
  return false;
}

std::string stream_error_text(const Http2Stream& stream) {
  if (!stream.error.empty()) return stream.error;
  return fmt::format("stream error: stream ID {}; {}{}", stream.id, nghttp2_http2_strerror(stream.error_code),
                     stream.reset_by_peer ? "; received from peer" : "");
}

}  // namespace pepe
