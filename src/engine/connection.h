#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/dialer.h"
#include "engine/hit.h"
#include "engine/ready_set.h"
#include "engine/response.h"

namespace pepe {

class Http2Context;

/// What became of a hit whose answer will not come.
enum class Breakage {
  kRetired,       ///< As kUnprocessed, by a connection that ends, and that had others to serve: each time some get on.
  kUnprocessed,   ///< The server says that it has not looked at the request: it may be sent again whatever it is.
  kBeforeAnswer,  ///< No byte of an answer had come: a reused connection may simply have been closed while idle.
  kInAnswer,      ///< The answer broke off, or is not HTTP.
};

/// What connections tell their worker. The first three end the connection's interest in the hit.
class ConnectionOwner {
 public:
  virtual ~ConnectionOwner() = default;
  /// The answer is one that the target's cache knows, head and body.
  virtual void on_known_answer(Connection& connection, Hit& hit) = 0;
  /// The answer is whole. `response` is the connection's until the call returns.
  virtual void on_answer(Connection& connection, Hit& hit, Response& response) = 0;
  /// No whole answer will come. `error` is the text without the method and the URL; `response` may hold the part that
  /// came, or be nullptr. The connection is closed already, or goes on with other hits.
  virtual void on_broken(Connection& connection, Hit& hit, Breakage breakage, std::string error,
                         Response* response) = 0;
  /// A connection with no hit on it ended.
  virtual void on_idle_closed(Connection& connection) = 0;
  /// The connection can carry more or fewer hits than before, or no new ones.
  virtual void on_capacity(Connection& connection) = 0;
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
  /// Connections that gathered frames: their worker flushes them before it sleeps.
  std::vector<class Connection*>& unflushed;
  /// Connections that left something unread or not unpacked, so that others have their turn: their worker comes back
  /// to them.
  std::vector<class Connection*>& unfinished;
  Http2Context* http2{nullptr};  ///< Set before the first HTTP/2 connection is made.
};

/// What had come of the answer to a hit that gave up.
struct Abandoned {
  std::unique_ptr<Response> response;  ///< nullptr: nothing.
  bool request_sent{true};
};

/// One connection of a worker: carries hits, one at a time (HTTP/1.1) or many at once (HTTP/2). The protocol is chosen
/// when the connection is made. Lives in its worker's store at a stable address and is used again for other sockets.
class Connection {
 public:
  enum class Protocol { kHttp1, kHttp2 };

  Connection(ConnectionContext& context, Protocol protocol) : context_{context}, protocol_{protocol} {}
  Connection(const Connection&) = delete;
  virtual ~Connection() = default;

  /// Takes over a socket that was just connected. False: the system refused to watch it, and it is closed.
  virtual bool open(Dialed dialed, Pool& pool) = 0;
  /// REQUIRES: no hit on it.
  virtual void close() = 0;
  /// Sends the request of `hit`. REQUIRES: has_room() before the pool took it. A failure is told through the owner,
  /// maybe at once.
  virtual void start(Hit& hit) = 0;
  virtual void on_ready(const ReadyEvent& event) = 0;
  /// Forgets the hits on it and closes: its worker has lost track, and sees to the hits itself.
  virtual void drop() noexcept = 0;
  /// The hit gave up (its deadline): takes it off the connection, which is closed when it can carry no other.
  virtual Abandoned abandon(Hit& hit) = 0;
  /// Sends what was gathered for one send.
  virtual void flush() {}
  /// Goes on with what it left unfinished. May leave it unfinished again.
  virtual void go_on() = 0;

  /// Draws what on_ready() will touch into the cache.
  void prefetch() const noexcept { prefetch_bytes(this, kTouchedBytes); }
  /// The same for the hit. Reads the connection itself.
  void prefetch_hit() const noexcept {
    if (hit_ != nullptr) prefetch_bytes(hit_, sizeof(Hit));
  }

  Protocol protocol() const noexcept { return protocol_; }
  bool is_open() const noexcept { return fd_ >= 0; }
  /// May carry further hits, if not now then when others have ended.
  bool reusable() const noexcept { return reusable_; }
  bool has_room() const noexcept { return reusable_ && load_ < capacity_; }
  Pool& pool() noexcept { return *pool_; }
  const Peer& peer() const noexcept { return peer_; }

 protected:
  /// How much of a connection prefetch() draws in: the whole of one that carries one hit at a time.
  static constexpr std::size_t kTouchedBytes = 384;

  ConnectionContext& context_;
  Hit* hit_{nullptr};  ///< The one that it carries, where that is one at a time.
  int fd_{-1};
  Pool* pool_{nullptr};
  Peer peer_;
  std::string peer_text_;  ///< "127.0.0.1:80": the socket of a connection that was reset no longer knows it.
  bool reusable_{false};
  /// Hits at once, as far as the server has said.
  std::uint32_t capacity_{1};
  /// The server will soon say how many hits the connection can carry.
  bool settling_{false};

 private:
  friend class Pool;
  static void prefetch_bytes(const void* at, std::size_t size) noexcept {
    constexpr std::size_t kCacheLine = 64;
    for (std::size_t i = 0; i < size; i += kCacheLine) __builtin_prefetch(static_cast<const char*>(at) + i, 1);
  }

  const Protocol protocol_;
  std::uint32_t load_{0};  // hits on it now, by the pool's account
  ListLink<Connection> idle_link_;
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
  /// `budget` outlives the responses; nullptr: none.
  explicit ResponseStash(BodyBudget* budget = nullptr) : budget_{budget} { free_.reserve(kSpares); }
  std::unique_ptr<Response> take();
  void give_back(std::unique_ptr<Response> response);

 private:
  static constexpr std::size_t kSpares = 64;

  BodyBudget* budget_;
  std::vector<std::unique_ptr<Response>> free_;
};

/// What the answer to `hit` is to be read with; `keep_limit`: -max-body.
ResponseExpectation expectation_for(const Hit& hit, std::uint64_t keep_limit);

/// "read tcp A->B: read: connection reset by peer", of the socket `fd`, which was connected to `peer`.
std::string socket_failure(const char* call, int fd, int error, std::string_view peer);

}  // namespace pepe
