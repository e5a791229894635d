#pragma once

#include <fcntl.h>
#include <nghttp2/nghttp2.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pepe {

/// A request as the server's side of HTTP/2 saw it.
struct PeerRequest {
  std::vector<std::pair<std::string, std::string>> fields;
  std::string body;
  bool whole{false};
  std::string field(std::string_view name) const {
    for (const auto& [key, value] : fields)
      if (key == name) return value;
    return {};
  }
};

/// The server's end of a socket pair: nghttp2's server session, told by the test what to say.
class Http2Peer {
 public:
  /// `fd` is the peer's from now on. `streams`: its limit; 0: it sends no limit.
  Http2Peer(int fd, std::uint32_t streams) : fd_{fd} {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_session_server_new(&session_, callbacks, this);
    nghttp2_session_callbacks_del(callbacks);
    const nghttp2_settings_entry limit{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, streams};
    nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, &limit, streams > 0 ? 1 : 0);
  }
  Http2Peer(const Http2Peer&) = delete;
  ~Http2Peer() {
    hang_up();
    nghttp2_session_del(session_);
  }

  std::map<std::int32_t, PeerRequest> requests;
  std::map<std::int32_t, std::uint32_t> resets;
  std::size_t most_at_once{0};
  std::size_t pongs{0};
  bool ended{false};  ///< The client closed.

  using Fields = std::vector<std::pair<std::string, std::string>>;
  void answer(std::int32_t stream, const Fields& fields, std::string body, const Fields& trailers = {}) {
    bodies_[stream] = {std::move(body), trailers};
    nghttp2_data_provider provider{};
    provider.source.ptr = &bodies_[stream];
    provider.read_callback = read_body;
    nghttp2_submit_response(session_, stream, nv(fields).data(), fields.size(), &provider);
  }
  /// Headers and `body`, and no end.
  void begin_answer(std::int32_t stream, std::string body) {
    answer(stream, {{":status", "200"}}, std::move(body));
    bodies_[stream].endless = true;
  }
  void interim(std::int32_t stream, const Fields& fields) {
    nghttp2_submit_headers(session_, NGHTTP2_FLAG_NONE, stream, nullptr, nv(fields).data(), fields.size(), nullptr);
  }
  void reset(std::int32_t stream, std::uint32_t code) {
    nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream, code);
  }
  void go_away(std::int32_t last_stream, std::uint32_t code, std::string_view debug) {
    nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE, last_stream, code,
                          reinterpret_cast<const std::uint8_t*>(debug.data()), debug.size());
  }
  void ping() { nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr); }
  void allow_streams(std::uint32_t count) { submit_setting(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, count); }
  void allow_window(std::uint32_t bytes) { submit_setting(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, bytes); }
  void allow_table(std::uint32_t bytes) { submit_setting(NGHTTP2_SETTINGS_HEADER_TABLE_SIZE, bytes); }
  /// Bytes outside of the session.
  void say(std::string_view bytes) { raw_.append(bytes); }
  void hang_up() {
    if (fd_ >= 0) close(std::exchange(fd_, -1));
  }

  /// Reads and writes what there is. True: something moved.
  bool pump() {
    bool moved = false;
    char buffer[65536];
    for (ssize_t got = 0; fd_ >= 0 && (got = recv(fd_, buffer, sizeof buffer, MSG_DONTWAIT)) >= 0;) {
      if (got == 0) {
        ended = true;
        break;
      }
      moved = true;
      nghttp2_session_mem_recv(session_, reinterpret_cast<const std::uint8_t*>(buffer), static_cast<std::size_t>(got));
    }
    std::string out;
    const std::uint8_t* data = nullptr;
    for (ssize_t size = 0;
         raw_.empty() && out.size() < 65536 && (size = nghttp2_session_mem_send(session_, &data)) > 0;)
      out.append(reinterpret_cast<const char*>(data), static_cast<std::size_t>(size));
    out += std::exchange(raw_, {});
    for (std::size_t at = 0; fd_ >= 0 && at < out.size();) {
      const ssize_t sent = send(fd_, out.data() + at, out.size() - at, MSG_NOSIGNAL);
      if (sent < 0) break;
      at += static_cast<std::size_t>(sent);
      moved = true;
    }
    return moved;
  }

 private:
  struct Body {
    std::string bytes;
    Fields trailers;
    std::size_t at{0};
    bool endless{false};
  };

  void submit_setting(std::int32_t id, std::uint32_t value) {
    const nghttp2_settings_entry entry{id, value};
    nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, &entry, 1);
  }
  static std::vector<nghttp2_nv> nv(const Fields& fields) {
    std::vector<nghttp2_nv> made;
    for (const auto& [name, value] : fields)
      made.push_back({reinterpret_cast<std::uint8_t*>(const_cast<char*>(name.data())),
                      reinterpret_cast<std::uint8_t*>(const_cast<char*>(value.data())), name.size(), value.size(),
                      NGHTTP2_NV_FLAG_NONE});
    return made;
  }
  static Http2Peer& self(void* user) { return *static_cast<Http2Peer*>(user); }
  static int on_begin(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
    Http2Peer& peer = self(user);
    peer.requests[frame->hd.stream_id];
    std::size_t open = 0;
    for (const auto& [id, request] : peer.requests) {
      if (nghttp2_session_find_stream(session, id) != nullptr) ++open;
    }
    peer.most_at_once = std::max(peer.most_at_once, open);
    return 0;
  }
  static int on_header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name, std::size_t name_size,
                       const std::uint8_t* value, std::size_t value_size, std::uint8_t, void* user) {
    self(user).requests[frame->hd.stream_id].fields.emplace_back(
        std::string{reinterpret_cast<const char*>(name), name_size},
        std::string{reinterpret_cast<const char*>(value), value_size});
    return 0;
  }
  static int on_data(nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* data, std::size_t size,
                     void* user) {
    self(user).requests[id].body.append(reinterpret_cast<const char*>(data), size);
    return 0;
  }
  static int on_frame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    if (frame->hd.type == NGHTTP2_PING && (frame->hd.flags & NGHTTP2_FLAG_ACK) != 0) ++self(user).pongs;
    if (frame->hd.type == NGHTTP2_RST_STREAM) self(user).resets[frame->hd.stream_id] = frame->rst_stream.error_code;
    if ((frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA) &&
        (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0)
      self(user).requests[frame->hd.stream_id].whole = true;
    return 0;
  }
  static ssize_t read_body(nghttp2_session* session, std::int32_t id, std::uint8_t* to, std::size_t size,
                           std::uint32_t* flags, nghttp2_data_source* source, void*) {
    Body& body = *static_cast<Body*>(source->ptr);
    const std::size_t count = body.bytes.copy(reinterpret_cast<char*>(to), size, body.at);
    body.at += count;
    if (body.at < body.bytes.size()) return static_cast<ssize_t>(count);
    if (body.endless && count == 0) return NGHTTP2_ERR_DEFERRED;
    if (body.endless) return static_cast<ssize_t>(count);
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (!body.trailers.empty()) {
      *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
      nghttp2_submit_trailer(session, id, nv(body.trailers).data(), body.trailers.size());
    }
    return static_cast<ssize_t>(count);
  }

  int fd_;
  nghttp2_session* session_{nullptr};
  std::map<std::int32_t, Body> bodies_;
  std::string raw_;
};

}  // namespace pepe
