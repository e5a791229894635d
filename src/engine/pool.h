#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/connection.h"
#include "engine/dialer.h"
#include "engine/hit.h"

namespace pepe {

/// What a pool needs of its worker.
class PoolOwner {
 public:
  virtual ~PoolOwner() = default;
  virtual Dialer& dialer() = 0;
  virtual Connection& new_connection(Connection::Protocol protocol) = 0;
  /// The connection is closed and done with.
  virtual void recycle(Connection& connection) = 0;
  /// A hit that waited gets its connection.
  virtual void on_connection(Hit& hit, Connection& connection) = 0;
  /// A hit that waited gets none; `error` is the cause without method and URL.
  virtual void on_no_connection(Hit& hit, std::string error) = 0;
};

struct PoolLimits {
  std::size_t max_idle{10'000};  ///< -connections
  std::size_t max_open{0};       ///< -max-connections; 0: no limit
  bool names_move{false};        ///< -dns-ttl: connections to addresses that a name has left are retired.
  bool keepalive{true};          ///< False: a connection for each hit.
  bool h2c{false};               ///< Every connection will be HTTP/2.
};

/// The connections of one worker to one origin. Those with room for a hit are a stack, the warmest first. A hit that
/// finds none waits in line for whatever comes first: a new connection or room on one that is there. A connection is
/// dialled for each hit in line until the origin has shown that its connections carry many. What was dialled meanwhile
/// is kept back until the server has said how many: then the line gets as much of it as it needs, and the rest is
/// closed.
class Pool {
 public:
  Pool(Origin origin, PoolLimits limits, PoolOwner& owner);
  Pool(const Pool&) = delete;
  ~Pool();

  /// A connection with a place taken on it, or nullptr: the hit waits in line.
  Connection* acquire(Hit& hit);
  /// A hit on the connection has ended: its place goes to the next in line or stays free, or the connection is closed.
  void release(Connection& connection);
  /// The connection closed itself with no hit on it.
  void on_idle_closed(Connection& connection);
  /// The connection has more or less room than before, or takes no new hits.
  void on_capacity(Connection& connection);
  /// Closes the connection that has been idle for longest. False: none is.
  bool close_idle();
  /// Gives up all dials, and forgets hits and connections: their owner has seen to them.
  void reset() noexcept;
  /// The hit no longer waits.
  void leave(Hit& hit);
  /// What the oldest of the dials is doing, for the text of a timeout.
  std::string phase() const;

 private:
  using RoomyList = IntrusiveList<Connection, &Connection::idle_link_>;

  void take(Connection& connection);
  void serve(Connection& connection, bool is_new);
  void retire(Connection& connection);
  void discard(Connection& connection);
  void retire_moved();
  std::size_t wanted_dials() const noexcept;
  void dial_for_waiting();
  void drop_surplus_dials();
  void cancel_dials() noexcept;
  void on_dialed(Dialer::Id id, Expected<Dialed> dialed);
  void open(Dialed dialed);
  void open_kept_back();
  Connection& connection_for(const Dialed& dialed);
  void on_dial_failed(const std::string& error);
  Hit* next_in_line(bool new_connection);

  Origin origin_;
  PoolLimits limits_;
  PoolOwner& owner_;
  RoomyList roomy_;
  WaitingList waiting_;
  std::vector<Dialer::Id> dials_;
  std::vector<Dialed> kept_back_;
  std::size_t open_{0};      // without the dials, and without what is kept back
  std::size_t settling_{0};  // of those, connections that will soon say how many hits they carry
  bool shares_{false};       // one connection carries many hits
  std::size_t hits_per_connection_{1};
  bool told_{false};  // the server has said how many
};

}  // namespace pepe
