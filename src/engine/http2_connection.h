#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "engine/http2_session.h"
#include "engine/stream_connection.h"

namespace pepe {

/// One HTTP/2 connection, plain or TLS: carries as many hits at once as the server allows. What they have to
/// send is gathered for one send per turn of the worker. Handlers stand in the order of a hit's life: start,
/// flush, on_ready (on_readable, on_bytes, settle, conclude), break_all.
class Http2Connection final : public StreamConnection<Http2Connection> {
 public:
  /// REQUIRES: context.http2 is set.
  explicit Http2Connection(ConnectionContext& context) : StreamConnection{context, Protocol::kHttp2} {}
  ~Http2Connection() override { close(); }

  bool open(Dialed dialed, Pool& pool) override;
  void close() override;
  void drop() noexcept override;
  void start(Hit& hit) override;
  void on_ready(const ReadyEvent& event) override;
  Abandoned abandon(Hit& hit) override;
  void flush() override;

 private:
  friend class StreamConnection<Http2Connection>;
  void queue_flush();
  void send_gathered();
  bool send_unsent();
  long send_some(std::string_view bytes);
  bool on_bytes(std::string_view bytes);
  void on_end(std::string error, bool clean);
  void unpack();
  void settle();
  void conclude(Http2Stream& stream);
  void conclude_answer(Hit& hit, Response& response);
  void break_all(std::string error, bool connection_ended);

  std::unique_ptr<Http2Session> session_;
  std::uint64_t hits_{0};
  bool queued_{false};   // for flush()
  bool greeted_{false};  // the first frames were sent
  bool blocked_{false};  // the socket is full
  std::string unsent_;   // frames that a full socket left over
  std::size_t unsent_at_{0};
};

}  // namespace pepe
