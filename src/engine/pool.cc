// HOT: once per hit. No allocation, lock, log or wall clock.
#include "engine/pool.h"

#include <algorithm>
#include <memory>

namespace pepe {
namespace {

// More dials at once would only fill the server's accept queue, and be dropped there.
constexpr std::size_t kMaxDials = 512;

}  // namespace

Pool::Pool(Origin origin, PoolLimits limits, PoolOwner& owner)
    : origin_{std::move(origin)}, limits_{limits}, owner_{owner} {}

Pool::~Pool() {
  for (const Dialer::Id id : dials_) owner_.dialer().cancel(id);
}

Http1Connection* Pool::acquire(Hit& hit) {
  hit.pool = this;
  if (!hit.wants_new_connection) {
    if (limits_.names_move) retire_moved();
    if (Http1Connection* const connection = idle_.pop_front()) return connection;
  }
  waiting_.push_back(hit);
  dial_for_waiting();
  return nullptr;
}

void Pool::release(Http1Connection& connection) {
  if (connection.reusable() && (!limits_.names_move || owner_.dialer().current(connection.peer()))) {
    if (Hit* const hit = next_in_line(false)) return owner_.on_connection(*hit, connection);
    if (idle_.size() < limits_.max_idle) return idle_.push_front(connection);
  }
  connection.close();
  on_closed(connection);
}

void Pool::on_closed(Http1Connection& connection) {
  if (IdleList::contains(connection)) idle_.erase(connection);
  --open_;
  owner_.recycle(connection);
  dial_for_waiting();
}

void Pool::retire_moved() {
  for (Http1Connection* connection = idle_.front(); connection != nullptr;) {
    Http1Connection& candidate = *connection;
    connection = IdleList::next(candidate);
    if (owner_.dialer().current(candidate.peer())) continue;
    candidate.close();
    on_closed(candidate);
  }
}

void Pool::leave(Hit& hit) {
  waiting_.erase(hit);
  if (dials_.size() > waiting_.size()) {
    owner_.dialer().cancel(dials_.front());
    dials_.erase(dials_.begin());
  }
}

std::string Pool::phase() const { return dials_.empty() ? std::string{} : owner_.dialer().phase(dials_.front()); }

void Pool::dial_for_waiting() {
  while (dials_.size() < std::min(waiting_.size(), kMaxDials) &&
         (limits_.max_open == 0 || open_ + dials_.size() < limits_.max_open)) {
    // The id is known only after dial() returns, and `done` runs later still.
    const auto id = std::make_shared<Dialer::Id>(0);
    *id = owner_.dialer().dial(origin_, [this, id](Expected<Dialed> dialed) { on_dialed(*id, std::move(dialed)); });
    dials_.push_back(*id);
  }
}

void Pool::on_dialed(Dialer::Id id, Expected<Dialed> dialed) {
  dials_.erase(std::find(dials_.begin(), dials_.end(), id));
  if (!dialed) {
    // The oldest waits longest for nothing: each dial that fails ends one hit.
    if (Hit* const hit = next_in_line(true)) owner_.on_no_connection(*hit, dialed.error().text());
    return dial_for_waiting();
  }
  Http1Connection& connection = owner_.new_connection();
  ++open_;
  if (!connection.open(*std::move(dialed), *this)) {
    --open_;
    owner_.recycle(connection);
    if (Hit* const hit = next_in_line(true)) owner_.on_no_connection(*hit, "the system cannot watch more sockets");
    return;
  }
  if (Hit* const hit = next_in_line(true)) return owner_.on_connection(*hit, connection);
  idle_.push_front(connection);
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
