#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "engine/hit.h"
#include "engine/ready_set.h"
#include "engine/response.h"

namespace pepe {

/// What became of a connection under a hit.
enum class Breakage {
  kBeforeAnswer,  ///< No byte of an answer had come: a reused connection may simply have been closed while idle.
  kInAnswer,      ///< The answer broke off, or is not HTTP.
};

/// What connections tell their worker. Each call ends the connection's interest in the hit.
class ConnectionOwner {
 public:
  virtual ~ConnectionOwner() = default;
  /// The answer is one that the target's cache knows, head and body.
  virtual void on_known_answer(Http1Connection& connection, Hit& hit) = 0;
  /// The answer is whole. `response` is the connection's until the call returns.
  virtual void on_answer(Http1Connection& connection, Hit& hit, Response& response) = 0;
  /// No whole answer will come. `error` is the text without the method and the URL; `response` may hold the part that
  /// came, or be nullptr. The connection is closed already.
  virtual void on_broken(Http1Connection& connection, Hit& hit, Breakage breakage, std::string error,
                         Response* response) = 0;
  /// An idle connection ended.
  virtual void on_idle_closed(Http1Connection& connection) = 0;
};

/// What the connections of one worker share: buffers that only the connection now being served uses.
struct ConnectionContext {
  ReadySet& ready;
  ConnectionOwner& owner;
  std::span<char> read_buffer;   ///< For recv.
  std::span<char> plain_buffer;  ///< For what TLS unpacked.
  std::uint64_t keep_limit{0};   ///< -max-body
  class RequestWriter& writer;
  class ResponseStash& responses;
};

/// Turns a request into the bytes of one hit. HOT: when the same target follows itself, only digits change.
class RequestWriter {
 public:
  /// Head and inline body with `seq` in place; valid until the next call.
  std::string_view write(const Request& request, std::uint64_t seq);
  /// REQUIRED before a Request that was written dies: another one may get its address.
  void forget() noexcept { last_ = nullptr; }

 private:
  const Request* last_{nullptr};
  std::size_t digits_{0};
  std::string bytes_;
};

/// Responses that are not in use. A connection borrows one only while an answer is on its way in pieces.
class ResponseStash {
 public:
  std::unique_ptr<Response> take();
  void give_back(std::unique_ptr<Response> response);

 private:
  std::vector<std::unique_ptr<Response>> free_;
};

}  // namespace pepe
