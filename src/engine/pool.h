#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/dialer.h"
#include "engine/hit.h"
#include "engine/http1_connection.h"

namespace pepe {

using IdleList = IntrusiveList<Http1Connection, &Http1Connection::idle_link>;

/// What a pool needs of its worker.
class PoolOwner {
 public:
  virtual ~PoolOwner() = default;
  virtual Dialer& dialer() = 0;
  virtual Http1Connection& new_connection() = 0;
  /// The connection is closed and done with.
  virtual void recycle(Http1Connection& connection) = 0;
  /// A hit that waited gets its connection.
  virtual void on_connection(Hit& hit, Http1Connection& connection) = 0;
  /// A hit that waited gets none; `error` is the cause without method and URL.
  virtual void on_no_connection(Hit& hit, std::string error) = 0;
};

struct PoolLimits {
  std::size_t max_idle{10'000};  ///< -connections
  std::size_t max_open{0};       ///< -max-connections; 0: no limit
  bool names_move{false};        ///< -dns-ttl: connections to addresses that a name has left are retired.
};

/// The connections of one worker to one origin. Idle ones are a stack, the warmest first. A hit that finds none waits
/// in line for whatever comes first: a new connection or one that falls idle.
class Pool {
 public:
  Pool(Origin origin, PoolLimits limits, PoolOwner& owner);
  Pool(const Pool&) = delete;
  ~Pool();

  /// A connection, or nullptr: the hit waits in line.
  Http1Connection* acquire(Hit& hit);
  /// After an answer: the connection serves the next in line, falls idle, or is closed.
  void release(Http1Connection& connection);
  /// The connection closed itself (maybe while idle).
  void on_closed(Http1Connection& connection);
  /// The hit no longer waits.
  void leave(Hit& hit);
  /// What the oldest of the dials is doing, for the text of a timeout.
  std::string phase() const;

 private:
  void retire_moved();
  void dial_for_waiting();
  void on_dialed(Dialer::Id id, Expected<Dialed> dialed);
  Hit* next_in_line(bool new_connection);

  Origin origin_;
  PoolLimits limits_;
  PoolOwner& owner_;
  IdleList idle_;
  WaitingList waiting_;
  std::vector<Dialer::Id> dials_;
  std::size_t open_{0};  // without the dials
};

}  // namespace pepe
