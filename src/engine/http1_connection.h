#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "engine/stream_connection.h"

namespace pepe {

/// One HTTP/1.1 connection, plain or TLS: sends a hit's request, reads its answer, one hit at a time. It may carry
/// another when the last answer was whole and the last byte, and both sides keep the connection. Handlers stand in the
/// order of a hit's life: start, on_ready (on_writable, on_readable, on_bytes, on_end).
class Http1Connection final : public StreamConnection<Http1Connection> {
 public:
  explicit Http1Connection(ConnectionContext& context) : StreamConnection{context, Protocol::kHttp1} {}
  ~Http1Connection() override { close(); }

  bool open(Dialed dialed, Pool& pool) override;
  void close() override;
  void drop() noexcept override;
  void start(Hit& hit) override;
  void on_ready(const ReadyEvent& event) override;
  Abandoned abandon(Hit& hit) override;

 private:
  friend class StreamConnection<Http1Connection>;
  // What a full socket left over: the rest of the head, and of a body that lives in the Request.
  struct Unsent {
    std::string head;
    std::size_t head_at{0};
    std::string_view body;
    bool empty() const noexcept { return head_at == head.size() && body.empty(); }
    void clear() noexcept { head.clear(), head_at = 0, body = {}; }
  };

  long send_some(std::string_view head, std::string_view body);
  void send_from(std::string_view head, std::string_view body);
  void on_writable();
  bool on_bytes(std::string_view bytes);
  bool on_known_head(std::string_view bytes);
  bool may_go_on(bool keep_alive, bool surplus) const noexcept;
  bool feed(std::string_view bytes, bool first);
  void unpack();
  bool conclude(Response::Status status);
  void on_end(std::string error, bool clean);
  void answered();
  void broken(Breakage breakage, std::string error);

  std::uint64_t hits_{0};
  bool closing_{false};
  bool surplus_{false};  // bytes came that nobody asked for
  Unsent unsent_;
  std::unique_ptr<Response> response_;
};

}  // namespace pepe
