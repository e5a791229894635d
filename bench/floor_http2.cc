// HTTP/2's floor: nghttp2 told as little as it needs, one read and one write of a connection per wake-up, no results.
#include <nghttp2/nghttp2.h>

#include <array>
#include <string>
#include <string_view>

#include "bench/floor_load.h"
#include "bench/floor_socket.h"

namespace pepe {
namespace {

constexpr int kPatienceMs = 1000;
// So large that the server never waits for one.
constexpr std::int32_t kWindow = 1 << 30;

struct Free {
  void operator()(nghttp2_session* session) const noexcept { nghttp2_session_del(session); }
  void operator()(nghttp2_session_callbacks* callbacks) const noexcept { nghttp2_session_callbacks_del(callbacks); }
};

struct Connection {
  FloorSocket socket;
  std::unique_ptr<nghttp2_session, Free> session;
  std::uint64_t ended{0};  ///< Streams that ended since they were last looked at.
};

class Http2Floor final : public FloorLoad {
 public:
  explicit Http2Floor(const FloorOptions& options)
      : FloorLoad{options},
        authority_{"127.0.0.1:" + std::to_string(options.port)},
        connections_(options.connections) {}

  Expected<void> connect_all() override;
  Expected<void> run() override;

 private:
  Expected<void> open(Connection& connection);
  void submit(Connection& connection);
  bool send_pending(Connection& connection);
  bool on_readable(Connection& connection);

  std::string authority_;
  std::string output_;
  std::vector<Connection> connections_;
  std::unique_ptr<nghttp2_session_callbacks, Free> callbacks_;
};

Expected<void> Http2Floor::connect_all() {
  if (options_.rate > 0) return Error{"-rate goes without -streams"};
  if (auto prepared = prepare(); !prepared) return prepared;
  if (tls_) SSL_CTX_set_alpn_protos(tls_.get(), reinterpret_cast<const unsigned char*>("\x02h2"), 3);
  nghttp2_session_callbacks* callbacks = nullptr;
  if (nghttp2_session_callbacks_new(&callbacks) != 0) return Error{"out of memory"};
  callbacks_.reset(callbacks);
  nghttp2_session_callbacks_set_on_stream_close_callback(
      callbacks, [](nghttp2_session*, std::int32_t, std::uint32_t, void* connection) {
        ++static_cast<Connection*>(connection)->ended;
        return 0;
      });
  for (Connection& connection : connections_)
    if (auto opened = open(connection); !opened) return opened;
  return {};
}

Expected<void> Http2Floor::open(Connection& connection) {
  const auto port = static_cast<std::uint16_t>(options_.port);
  if (auto connected = connection.socket.connect(port, tls_.get(), epoll_, &connection); !connected) return connected;
  nghttp2_session* session = nullptr;
  if (nghttp2_session_client_new(&session, callbacks_.get(), &connection) != 0) return Error{"out of memory"};
  connection.session.reset(session);
  const std::array<nghttp2_settings_entry, 1> settings{{{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kWindow}}};
  nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
  nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0, kWindow);
  return {};
}

void Http2Floor::submit(Connection& connection) {
  const auto field = [](std::string_view name, std::string_view value) {
    const auto bytes = [](std::string_view text) {
      return const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(text.data()));
    };
    return nghttp2_nv{bytes(name), bytes(value), name.size(), value.size(),
                      NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE};
  };
  const std::array<nghttp2_nv, 4> fields{field(":method", "GET"), field(":scheme", options_.tls ? "https" : "http"),
                                         field(":authority", authority_), field(":path", "/")};
  nghttp2_submit_request(connection.session.get(), nullptr, fields.data(), fields.size(), nullptr, nullptr);
}

Expected<void> Http2Floor::run() {
  start_ = Clock::now();
  for (Connection& connection : connections_) {
    for (std::uint64_t i = 0; i < options_.streams; ++i) submit(connection);
    if (!send_pending(connection)) return Error{"send failed"};
  }
  while (!over(Clock::now())) {
    const int count = epoll_wait(epoll_, events_.data(), static_cast<int>(events_.size()), kPatienceMs);
    for (int i = 0; i < count; ++i)
      if (!on_readable(*static_cast<Connection*>(events_[static_cast<std::size_t>(i)].data.ptr)))
        return Error{"the connection was closed"};
  }
  return {};
}

bool Http2Floor::send_pending(Connection& connection) {
  output_.clear();
  for (;;) {
    const std::uint8_t* frame = nullptr;
    const ssize_t size = nghttp2_session_mem_send(connection.session.get(), &frame);
    if (size < 0) return false;
    if (size == 0) break;
    output_.append(reinterpret_cast<const char*>(frame), static_cast<std::size_t>(size));
  }
  return output_.empty() || connection.socket.send(output_);
}

bool Http2Floor::on_readable(Connection& connection) {
  for (;;) {
    const ssize_t size = connection.socket.receive(received_);
    if (size < 0) return false;
    if (size == 0) break;
    if (nghttp2_session_mem_recv(connection.session.get(), reinterpret_cast<const std::uint8_t*>(received_.data()),
                                 static_cast<std::size_t>(size)) != size)
      return false;
    if (!connection.socket.may_hold_more(size, received_.size())) break;
  }
  done_ += connection.ended;
  for (; connection.ended > 0; --connection.ended) submit(connection);
  return send_pending(connection);
}

}  // namespace

std::unique_ptr<FloorLoad> make_http2_floor(const FloorOptions& options) {
  return std::make_unique<Http2Floor>(options);
}

}  // namespace pepe
