#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pepe {

/// What a client that speaks HTTP/2 sends first.
inline constexpr std::string_view kHttp2Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The server's side of one HTTP/2 connection, as little of it as answers requests of any kind. What a request asks for
/// is not looked at, so its header block is not decoded; answers keep to the client's windows.
class Http2Answers {
 public:
  /// `body` is borrowed. At most `streams` are open at a time. Appends the server's first frames to `out`.
  Http2Answers(std::string_view body, std::uint32_t streams, std::string& out);

  /// How many requests end within `bytes`, the next ones of the connection; each waits for its answer. What the
  /// protocol owes the client for them is appended to `out`. nullopt: not HTTP/2.
  std::optional<std::uint32_t> feed(std::string_view bytes, std::string& out);

  /// Appends the answers to the `count` requests that wait longest, as far as the windows let.
  void answer(std::uint32_t count, std::string& out);

 private:
  struct Frame {
    std::uint8_t type;
    std::uint8_t flags;
    std::uint32_t stream;
    std::string_view payload;
  };
  struct Stream {
    std::uint32_t id;
    std::int64_t window;      ///< Bytes that the client takes on it.
    std::size_t sent{0};      ///< Bytes of the body.
    bool ended{false};        ///< The request ends with its header block.
    bool is_answered{false};  ///< Only bytes of the body are left to send.
  };

  bool scan(std::string_view bytes, std::size_t& used, std::string& out);
  bool on_frame(const Frame& frame, std::string& out);
  void on_headers(const Frame& frame);
  void on_data(const Frame& frame, std::string& out);
  void on_settings(std::string_view settings, std::string& out);
  void on_window_update(const Frame& frame, std::string& out);
  void on_header_block_end();
  void end_request(Stream& stream);
  Stream* find(std::uint32_t id);
  void append_head(Stream& stream, std::string& out);
  bool append_body(Stream& stream, std::string& out);
  void append_waiting_bodies(std::string& out);

  std::string_view body_;
  std::string partial_;  ///< The start of a frame whose end has not arrived.
  std::size_t preface_left_{kHttp2Preface.size()};
  std::vector<Stream> streams_;  ///< Open ones, in order of their numbers.
  std::deque<std::uint32_t> unanswered_;
  std::uint32_t in_block_{0};  ///< The stream whose header block goes on; 0: none.
  std::uint32_t count_{0};     ///< Requests that ended during this feed().
  std::int64_t window_{65535};
  std::int64_t stream_window_{65535};
  std::int64_t unacknowledged_{0};  ///< Bytes of request bodies taken since the last update of the window.
  bool may_index_{true};            ///< The client keeps a table of header fields.
  bool has_indexed_{false};
};

}  // namespace pepe
