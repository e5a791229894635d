#pragma once

#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "engine/block_pool.h"
#include "engine/connection.h"
#include "engine/hit.h"
#include "engine/http2_frames.h"
#include "engine/http2_head_reader.h"
#include "engine/http2_request_writer.h"
#include "engine/http2_stream.h"
#include "engine/intrusive_list.h"

namespace pepe {

/// What the HTTP/2 connections of one worker share: memory for their tables, streams that are not in use, the buffer
/// that frames are gathered in.
class Http2Context {
 public:
  /// `keep_limit`: -max-body
  Http2Context(ResponseStash& responses, std::uint64_t keep_limit);
  Http2Context(const Http2Context&) = delete;

  std::string output;

 private:
  friend class Http2Session;

  Http2Stream& take_stream();
  void give_back(Http2Stream& stream);

  ResponseStash& responses_;
  const std::uint64_t keep_limit_;
  BlockPool blocks_;
  nghttp2_mem memory_;
  std::deque<Http2Stream> streams_;
  std::vector<Http2Stream*> free_streams_;
};

/// The client's side of one HTTP/2 connection without its socket (RFC 9113): requests and the server's bytes in, bytes
/// for the server and outcomes out. The tables of HPACK are nghttp2's, the rest is done here: a hit costs a few frames,
/// and so little else. HOT, but for errors.
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
  /// The server broke the rules: nothing more is read, and nothing but the reason is still to be sent.
  bool ended() const noexcept { return ended_ && !unpacking_; }
  bool wants_write() const noexcept;

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
  bool served_some() const noexcept { return last_stream_ > 0 && last_sent_ > 0; }
  /// Why the connection failed; after a GOAWAY what that said; else empty.
  const std::string& error() const noexcept { return error_; }

 private:
  using OpenList = IntrusiveList<Http2Stream, &Http2Stream::open_link>;
  using DoneList = IntrusiveList<Http2Stream, &Http2Stream::done_link>;
  using SendList = IntrusiveList<Http2Stream, &Http2Stream::send_link>;
  using Piece = Http2FrameReader::Piece;

  // http2_session_send.cc
  void send_requests(std::string& out);
  void send_head(Http2Stream& stream, std::string& out);
  void send_contents(std::string& out);
  void send_content(Http2Stream& stream, std::string& out);
  void finish_request(Http2Stream& stream);
  void resume(Http2Stream& stream);

  // http2_session_frames.cc
  void on_piece(const Piece& piece);
  void on_data(const Piece& piece);
  void begin_data(const Piece& piece);
  void take_content(Http2Stream& stream, std::string_view content);
  void on_headers(const Http2FrameHead& head, std::string_view payload);
  void on_continuation(const Http2FrameHead& head, std::string_view payload);
  void on_block(std::int32_t id, bool ends_stream, std::string_view block);
  void take_head(Http2Stream& stream, bool ends_stream, std::string_view block);
  void on_reset(const Http2FrameHead& head, std::string_view payload);
  void on_settings(const Http2FrameHead& head, std::string_view payload);
  bool apply_setting(std::uint16_t id, std::uint32_t value, std::int64_t& stream_window);
  bool move_send_windows(std::int64_t by);
  void on_ping(const Http2FrameHead& head, std::string_view payload);
  void on_goaway(const Http2FrameHead& head, std::string_view payload);
  void on_window_update(const Http2FrameHead& head, std::string_view payload);
  /// The server may speak of the stream.
  bool is_known(std::int32_t id) const noexcept { return id > 0 && id % 2 == 1 && id <= last_sent_; }

  Response& response_of(Http2Stream& stream);
  void end_answer(Http2Stream& stream);
  void answered(Http2Stream& stream);
  void broken(Http2Stream& stream, std::string error);
  void close(Http2Stream& stream);
  void on_closed(Http2Stream& stream, std::uint32_t error_code);
  void reset(Http2Stream& stream, std::uint32_t error_code);
  void forget(Http2Stream& stream);
  bool fail(std::string error);
  void end_connection(std::uint32_t error_code, std::string_view reason = {});
  void run_out_of_memory() noexcept;

  Http2Context& context_;
  Http2FrameReader reader_;
  Http2HeadReader heads_;
  Http2RequestWriter requests_;
  Http2StreamTable streams_;  // open ones, by number
  OpenList open_;
  DoneList done_;
  SendList unsent_;      // requests whose head is to be sent
  SendList contents_;    // those of which some body is, and may be
  std::string control_;  // frames that go first
  std::int32_t next_id_{1};
  std::int32_t last_sent_{0};   // the newest stream whose request has left
  std::uint32_t under_way_{0};  // streams that the server counts

  std::uint32_t most_streams_{UINT32_MAX};  // the server's SETTINGS
  std::int64_t stream_window_;
  std::int64_t send_window_;
  std::int64_t receive_window_;

  std::int32_t block_stream_{0};  // of a header block that goes on
  bool block_ends_stream_{false};
  std::string block_;
  std::size_t block_budget_{0};

  bool begun_{false};
  bool settled_{false};
  bool takes_requests_{true};
  bool changed_{false};
  bool unpacking_{false};
  bool ended_{false};            // by an error of the connection
  bool retired_{false};          // by a GOAWAY of the server
  std::int32_t last_stream_{0};  // of the server's GOAWAY
  std::string error_;
};

/// "stream error: stream ID 1; INTERNAL_ERROR; received from peer": the outcome of a broken stream.
std::string stream_error_text(const Http2Stream& stream);

}  // namespace pepe
