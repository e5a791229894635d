#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "engine/connection.h"
#include "engine/dialer.h"
#include "engine/tls_session.h"

namespace pepe {

/// One HTTP/1.1 connection, plain or TLS: sends a hit's request, reads its answer, one hit at a time. Lives in its
/// worker's store at a stable address and is used again for other sockets.
/// Handlers stand in the order of a hit's life: start, on_ready (on_writable, on_readable, on_bytes, on_end).
class Http1Connection {
 public:
  explicit Http1Connection(ConnectionContext& context) : context_{context} {}
  Http1Connection(const Http1Connection&) = delete;
  ~Http1Connection() { close(); }

  /// Takes over a socket that was just connected. False: the system refused to watch it, and it is closed.
  bool open(Dialed dialed, Pool& pool);
  void close();
  bool is_open() const noexcept { return fd_ >= 0; }

  /// Sends the request of `hit`. REQUIRES: open, no hit in flight. A failure is told through the owner, maybe at once.
  void start(Hit& hit);
  void on_ready(const ReadyEvent& event);
  /// The hit gave up (its deadline): closes the connection and hands over what had come of an answer, or nullptr.
  std::unique_ptr<Response> abandon();

  /// May carry another hit: the last answer was whole and the last byte, and both sides keep the connection.
  bool reusable() const noexcept { return reusable_; }
  /// The hit in flight, or the last one, was not the first.
  bool reused() const noexcept { return hits_ > 1; }
  bool answer_begun() const noexcept { return response_ != nullptr && response_->begun(); }
  bool head_received() const noexcept { return response_ != nullptr && response_->has_head(); }
  bool request_sent() const noexcept { return unsent_.empty(); }
  Pool& pool() noexcept { return *pool_; }
  const Peer& peer() const noexcept { return peer_; }

  ListLink<Http1Connection> idle_link;

 private:
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
  void on_readable(bool closing);
  void on_ciphertext(std::string_view ciphertext);
  void on_plaintext();
  bool on_bytes(std::string_view bytes);
  bool on_known_head(std::string_view bytes);
  bool feed(std::string_view bytes, bool first);
  void on_end(std::string error, bool clean);
  void answered(bool surplus);
  void broken(Breakage breakage, std::string error);
  ResponseExpectation expectation() const;
  std::string socket_error(const char* call, int error) const;

  ConnectionContext& context_;
  int fd_{-1};
  std::unique_ptr<TlsSession> tls_;
  Pool* pool_{nullptr};
  Hit* hit_{nullptr};
  std::uint64_t hits_{0};
  bool reusable_{false};
  bool closing_{false};
  int write_error_{0};
  Peer peer_;
  Unsent unsent_;
  std::unique_ptr<Response> response_;
};

}  // namespace pepe
