// HOT: once per hit. No allocation, lock, log or wall clock.
#include "engine/pool.h"

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "engine/reserve.h"

namespace pepe {
namespace {

// More dials at once would only fill the server's accept queue, and be dropped there.
constexpr std::size_t kMaxDials = 512;
// Streams that an HTTP/2 connection is expected to carry before the server has said (RFC 9113 6.5.2 recommends no
// less).
constexpr std::size_t kExpectedStreams = 100;
constexpr std::size_t kMaxWithoutRoom = 16;

}  // namespace

Pool::Pool(Origin origin, PoolLimits limits, PoolOwner& owner)
    : origin_{std::move(origin)},
      limits_{limits},
      owner_{owner},
      shares_{limits.h2c && limits.keepalive},
      hits_per_connection_{shares_ ? kExpectedStreams : 1} {}

// Its hits may be gone already.
Pool::~Pool() { cancel_dials(); }

void Pool::cancel_dials() noexcept {
  for (const Dialer::Id id : dials_) owner_.dialer().cancel(id);
  dials_.clear();
  for (const Dialed& dialed : kept_back_) ::close(dialed.fd);
  kept_back_.clear();
}

void Pool::reset() noexcept {
  cancel_dials();
  while (waiting_.pop_front() != nullptr) {
  }
  while (roomy_.pop_front() != nullptr) {
  }
  open_ = settling_ = 0;
}

Connection* Pool::acquire(Hit& hit) {
  hit.pool = this;
  if (!hit.wants_new_connection) {
    if (limits_.names_move) retire_moved();
    if (Connection* const connection = roomy_.front()) {
      take(*connection);
      return connection;
    }
  }
  waiting_.push_back(hit);
  dial_for_waiting();
  return nullptr;
}

void Pool::release(Connection& connection) {
  --connection.load_;
  if (connection.reusable() && (!limits_.names_move || owner_.dialer().current(connection.peer()))) {
    // A server that allows no streams may do so later: a few connections are kept for that.
    if (!connection.has_room() && connection.load_ == 0 && open_ > kMaxWithoutRoom) return retire(connection);
    if (!connection.has_room()) return;
    if (Hit* const hit = next_in_line(false)) {
      take(connection);
      return owner_.on_connection(*hit, connection);
    }
    if (RoomyList::contains(connection)) return;
    if (connection.load_ > 0 || roomy_.size() < limits_.max_idle) return roomy_.push_front(connection);
  }
  retire(connection);
}

void Pool::on_idle_closed(Connection& connection) { discard(connection); }

void Pool::on_capacity(Connection& connection) {
  const bool is_new = std::exchange(connection.settling_, false);
  if (is_new) --settling_;
  if (!connection.reusable()) {
    retire(connection);
    open_kept_back();
    return dial_for_waiting();
  }
  if (limits_.keepalive) {
    hits_per_connection_ = std::max<std::size_t>(1, connection.capacity_);
    told_ = true;
  }
  serve(connection, is_new);
  open_kept_back();
  dial_for_waiting();
  drop_surplus_dials();
}

void Pool::take(Connection& connection) {
  ++connection.load_;
  if (!connection.has_room() && RoomyList::contains(connection)) roomy_.erase(connection);
}

// Fills the room of `connection` from the line, and keeps what is left of it at hand.
void Pool::serve(Connection& connection, bool is_new) {
  while (connection.has_room()) {
    Hit* const hit = next_in_line(is_new);
    if (hit == nullptr) break;
    take(connection);
    owner_.on_connection(*hit, connection);
  }
  if (connection.has_room() == RoomyList::contains(connection)) return;
  if (connection.has_room()) {
    roomy_.push_front(connection);
  } else {
    roomy_.erase(connection);
  }
}

// Takes no new hits any more: closed when the last has ended.
void Pool::retire(Connection& connection) {
  connection.reusable_ = false;
  if (RoomyList::contains(connection)) roomy_.erase(connection);
  if (connection.load_ > 0) return;
  connection.close();
  discard(connection);
}

// REQUIRES: closed, no hit on it.
void Pool::discard(Connection& connection) {
  if (RoomyList::contains(connection)) roomy_.erase(connection);
  if (std::exchange(connection.settling_, false)) --settling_;
  --open_;
  owner_.recycle(connection);
  open_kept_back();
  dial_for_waiting();
}

bool Pool::close_idle() {
  Connection* longest = nullptr;
  for (Connection* connection = roomy_.front(); connection != nullptr; connection = RoomyList::next(*connection)) {
    if (connection->load_ == 0) longest = connection;
  }
  if (longest != nullptr) retire(*longest);
  return longest != nullptr;
}

void Pool::retire_moved() {
  for (Connection* connection = roomy_.front(); connection != nullptr;) {
    Connection& candidate = *connection;
    connection = RoomyList::next(candidate);
    if (!owner_.dialer().current(candidate.peer())) retire(candidate);
  }
}

void Pool::leave(Hit& hit) {
  waiting_.erase(hit);
  if (dials_.size() > wanted_dials()) {
    owner_.dialer().cancel(dials_.front());
    dials_.erase(dials_.begin());
  }
}

std::string Pool::phase() const { return dials_.empty() ? std::string{} : owner_.dialer().phase(dials_.front()); }

// One for each hit in line, or for as many as a connection carries; those that settle, and carry one, will take their
// share.
std::size_t Pool::wanted_dials() const noexcept {
  const std::size_t room = settling_ * (hits_per_connection_ - 1);
  const std::size_t hits = waiting_.size() - std::min(waiting_.size(), room);
  return (hits + hits_per_connection_ - 1) / hits_per_connection_;
}

void Pool::dial_for_waiting() {
  while (dials_.size() < std::min(wanted_dials(), kMaxDials) &&
         (limits_.max_open == 0 || open_ + kept_back_.size() + dials_.size() < limits_.max_open)) {
    // The id is known only after dial() returns, and `done` runs later still.
    const auto id = std::make_shared<Dialer::Id>(0);
    reserve_for(kept_back_, kept_back_.size() + dials_.size() + 1);
    dials_.push_back(0);  // before the dial, which must not go on unknown for want of memory
    *id = owner_.dialer().dial(origin_, [this, id](Expected<Dialed> dialed) { on_dialed(*id, std::move(dialed)); });
    dials_.back() = *id;
  }
}

void Pool::drop_surplus_dials() {
  while (dials_.size() > wanted_dials()) {
    owner_.dialer().cancel(dials_.back());
    dials_.pop_back();
  }
}

void Pool::on_dialed(Dialer::Id id, Expected<Dialed> dialed) {
  dials_.erase(std::find(dials_.begin(), dials_.end(), id));
  if (!dialed) return on_dial_failed(dialed.error().text());
  if (const bool shares = dialed->h2 && limits_.keepalive; shares != shares_) {
    shares_ = shares;
    told_ = false;
    hits_per_connection_ = shares ? kExpectedStreams : 1;
  }
  if (shares_ && !told_ && settling_ > 0) return kept_back_.push_back(*std::move(dialed));
  open(*std::move(dialed));
  if (shares_ && told_) drop_surplus_dials();
}

void Pool::open(Dialed dialed) {
  Connection& connection = connection_for(dialed);
  ++open_;
  connection.load_ = 0;
  if (!connection.open(std::move(dialed), *this)) {
    --open_;
    owner_.recycle(connection);
    if (Hit* const hit = next_in_line(true)) owner_.on_no_connection(*hit, "the system cannot watch more sockets");
    return;
  }
  if (connection.settling_) ++settling_;
  serve(connection, true);
}

// As soon as the server has said how many hits a connection carries, or the one that was to hear it has ended.
void Pool::open_kept_back() {
  while (!kept_back_.empty() && (told_ || settling_ == 0)) {
    Dialed dialed = std::move(kept_back_.back());
    kept_back_.pop_back();
    if (wanted_dials() > 0) {
      open(std::move(dialed));
    } else {
      ::close(dialed.fd);
    }
  }
}

Connection& Pool::connection_for(const Dialed& dialed) {
  try {
    return owner_.new_connection(dialed.h2 ? Connection::Protocol::kHttp2 : Connection::Protocol::kHttp1);
  } catch (...) {
    ::close(dialed.fd);
    throw;
  }
}

// The oldest wait longest for nothing: each dial that fails ends as many hits as it was made for.
void Pool::on_dial_failed(const std::string& error) {
  const std::size_t dials = dials_.size() + 1;
  std::size_t share = shares_ ? (waiting_.size() + dials - 1) / dials : 1;
  for (; share > 0; --share) {
    if (Hit* const hit = next_in_line(true)) owner_.on_no_connection(*hit, error);
  }
  dial_for_waiting();
}

// The first hit in line, taken out of it; one that wants a new connection is passed over for a used one.
Hit* Pool::next_in_line(bool new_connection) {
  for (Hit* hit = waiting_.front(); hit != nullptr; hit = WaitingList::next(*hit)) {
    if (hit->wants_new_connection && !new_connection) continue;
    waiting_.erase(*hit);
    return hit;
  }
  return nullptr;
}

}  // namespace pepe
