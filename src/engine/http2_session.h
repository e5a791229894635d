#pragma once

#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/block_pool.h"
#include "engine/connection.h"
#include "engine/hit.h"
#include "engine/intrusive_list.h"
#include "engine/response.h"

namespace pepe {

/// One exchange on an HTTP/2 connection.
struct Http2Stream {
  enum class State { kOpen, kAnswered, kBroken };

  std::int32_t id{0};                  ///< 0: never submitted.
  Hit* hit{nullptr};                   ///< nullptr: it gave up, or has its outcome.
  std::unique_ptr<Response> response;  ///< From the first field of an answer on.
  std::string_view content;            ///< What is left of the body to send. The hit's Request owns it.
  State state{State::kOpen};
  bool sent{false};       ///< The request is sent as a whole.
  bool whole{false};      ///< The answer is read as a whole; its body may still be being unpacked.
  bool closed{false};     ///< nghttp2 knows it no more.
  bool resetting{false};  ///< RST_STREAM is on its way out.
  bool reset_by_peer{false};
  std::uint32_t error_code{0};
  std::string error;  ///< Found on this side; empty: error_code says it.

  ListLink<Http2Stream> open_link;
  ListLink<Http2Stream> done_link;
};

/// What the HTTP/2 connections of one worker share: nghttp2's callbacks, options and memory, streams that are
/// not in use, the buffer that frames are gathered in.
class Http2Context {
 public:
  /// `keep_limit`: -max-body
  Http2Context(ResponseStash& responses, std::uint64_t keep_limit);
  Http2Context(const Http2Context&) = delete;

  std::string output;

 private:
  friend class Http2Session;
  struct Free {
    void operator()(nghttp2_session_callbacks* callbacks) const noexcept { nghttp2_session_callbacks_del(callbacks); }
    void operator()(nghttp2_option* option) const noexcept { nghttp2_option_del(option); }
  };

  Http2Stream& take_stream();
  void give_back(Http2Stream& stream);

  ResponseStash& responses_;
  const std::uint64_t keep_limit_;
  BlockPool blocks_;
  nghttp2_mem memory_;
  std::unique_ptr<nghttp2_session_callbacks, Free> callbacks_;
  std::unique_ptr<nghttp2_option, Free> option_;
  std::vector<nghttp2_nv> fields_;
  std::deque<Http2Stream> streams_;
  std::vector<Http2Stream*> free_streams_;
};

/// The client's side of one HTTP/2 connection without its socket: requests and the server's bytes in, bytes
/// for the server and outcomes out. HOT, but for errors.
class Http2Session {
 public:
  explicit Http2Session(Http2Context& context);
  ~Http2Session();
  Http2Session(const Http2Session&) = delete;

  /// Puts the request of `hit` in line to be sent.
  Http2Stream& submit(Hit& hit);
  /// The stream's hit has gone. Resets the stream when it is still open. True: something is to be sent.
  bool detach(Http2Stream& stream);

  /// Reads on. False: the connection is of no use any more, error() says why; streams may have ended before.
  bool feed(std::string_view bytes);
  /// Appends frames to `out`, some 64 KB at a time; nothing: all is sent. False as in feed().
  bool gather(std::string& out);
  /// Both sides are done, after an error or a GOAWAY.
  bool finished() const noexcept;
  bool wants_write() const noexcept { return nghttp2_session_want_write(session_) != 0; }

  /// A body is still to be unpacked: to be done before more is fed.
  bool unpacking() const noexcept { return unpacking_; }
  /// Unpacks some more.
  void unpack();

  /// The next stream whose hit has its outcome, or nullptr. To be detached.
  Http2Stream* next_done() noexcept { return done_.front(); }
  /// A stream that still has a hit, or nullptr.
  Http2Stream* next_unfinished() noexcept;

  /// Streams that the server allows at once: one until its SETTINGS have come.
  std::uint32_t capacity() const noexcept;
  bool settled() const noexcept { return settled_; }
  /// New requests may be submitted.
  bool takes_requests() const noexcept { return takes_requests_; }
  /// Whether one of the three has changed since the last call.
  bool take_change() noexcept;

  /// The server's farewell named requests that it looked at.
  bool served_some() const noexcept { return last_stream_ > 0; }
  /// Why the connection failed; after a GOAWAY what that said; else empty.
  const std::string& error() const noexcept { return error_; }

 private:
  friend class Http2Context;
  struct Callbacks;
  using OpenList = IntrusiveList<Http2Stream, &Http2Stream::open_link>;
  using DoneList = IntrusiveList<Http2Stream, &Http2Stream::done_link>;

  Http2Stream* find(std::int32_t id) const noexcept;
  Response& response_of(Http2Stream& stream);
  void answered(Http2Stream& stream);
  void broken(Http2Stream& stream, std::string error);
  void on_frame(const nghttp2_frame& frame);
  void on_goaway(const nghttp2_goaway& goaway);
  void on_closed(Http2Stream& stream, std::uint32_t error_code);
  void forget(Http2Stream& stream);
  bool fail(std::string error);
  void run_out_of_memory() noexcept;

  Http2Context& context_;
  nghttp2_session* session_{nullptr};
  OpenList open_;
  DoneList done_;
  bool begun_{false};
  bool settled_{false};
  bool takes_requests_{true};
  bool changed_{false};
  bool unpacking_{false};
  std::int32_t last_stream_{0};  // of the server's GOAWAY
  std::string error_;
};

/// "stream error: stream ID 1; INTERNAL_ERROR; received from peer": the outcome of a broken stream.
std::string stream_error_text(const Http2Stream& stream);

}  // namespace pepe
