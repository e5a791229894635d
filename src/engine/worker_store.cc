// What a worker owns: pools, connections, targets; and what becomes of them when memory runs out.
#include <algorithm>
#include <exception>
#include <new>

#include "engine/reserve.h"
#include "engine/shortage.h"
#include "engine/worker.h"

namespace pepe {

std::optional<Error> Worker::fault() const {
  if (ready_.fault() == 0) return std::nullopt;
  return system_shortage("attack", ready_.fault());
}

void Worker::wake() noexcept { ready_.wake(); }

Pool& Worker::pool_for(const Origin& origin) {
  auto& pool = pools_[origin];
  if (!pool) {
    const PoolLimits limits{.max_idle = share_.max_idle,
                            .max_open = share_.max_open,
                            .names_move = attack_.plan->names_move(),
                            .keepalive = attack_.options.keepalive,
                            .h2c = attack_.options.h2c};
    pool = std::make_unique<Pool>(origin, limits, *this);
  }
  return *pool;
}

Connection& Worker::new_connection(Connection::Protocol protocol) {
  const bool http2 = protocol == Connection::Protocol::kHttp2;
  auto& free = http2 ? free_http2_connections_ : free_http1_connections_;
  if (!free.empty()) {
    Connection& connection = *free.back();
    free.pop_back();
    return connection;
  }
  const std::size_t count = http1_connections_.size() + http2_connections_.size() + 1;
  reserve_for(free, count);
  reserve_for(closed_connections_, count);
  if (!http2) return http1_connections_.emplace_back(context_);
  if (!http2_) {
    http2_ = std::make_unique<Http2Context>(responses_, context_.keep_limit);
    context_.http2 = http2_.get();
  }
  return http2_connections_.emplace_back(context_);
}

void Worker::recycle(Connection& connection) { closed_connections_.push_back(&connection); }

void Worker::reuse_closed_connections() {
  for (Connection* const connection : closed_connections_)
    (connection->protocol() == Connection::Protocol::kHttp2 ? free_http2_connections_ : free_http1_connections_)
        .push_back(connection);
  closed_connections_.clear();
}

// A turn found no memory, anywhere: like a lack of descriptors an outcome of the hits that it meets. What the worker
// has under way is given up, whatever state that is in, which gives memory back; its hits fail, and the run goes on. It
// ends only when even that does not help.
void Worker::recover() noexcept {
  const bool had_hits = !deadlines_.empty();
  const bool had_connections = drop_connections();
  reserve_.reset();
  try {
    while (Hit* const hit = deadlines_.front()) {
      if (hit->target == nullptr) {
        spare_target_.target = &attack_.targets[hit->seq % attack_.targets.size()];
        spare_target_.request = &attack_.requests[hit->seq % attack_.requests.size()];
        hit->target = &spare_target_;
      }
      fail(*hit, "out of memory", nullptr, false);
    }
  } catch (const std::exception&) {
    out_of_memory_.store(true);
  }
  reserve_.reset(new (std::nothrow) char[kReserveBytes]);
  if (!had_hits && !had_connections) out_of_memory_.store(true);
}

// True: there were some.
bool Worker::drop_connections() noexcept {
  bool any = false;
  const auto drop = [&any](Connection& connection) {
    any = any || connection.is_open();
    connection.drop();
  };
  for (Http1Connection& connection : http1_connections_) drop(connection);
  for (Http2Connection& connection : http2_connections_) drop(connection);
  for (auto& [origin, pool] : pools_) {
    if (pool) pool->reset();
  }
  unflushed_.clear();
  unfinished_.clear();
  closed_connections_.clear();
  // There is room for all of them.
  free_http1_connections_.clear();
  free_http2_connections_.clear();
  for (Http1Connection& connection : http1_connections_) free_http1_connections_.push_back(&connection);
  for (Http2Connection& connection : http2_connections_) free_http2_connections_.push_back(&connection);
  return any;
}

// The run was ended at once: what is in flight has been sent, and so has its result.
void Worker::cancel_hits() noexcept {
  if (deadlines_.empty()) return;
  drop_connections();
  try {
    while (Hit* const hit = deadlines_.front()) {
      fail(*hit, error_prefix(hit->request->method, hit->request->url) + "context canceled", nullptr, hit->reused);
      if (recorder_.full()) hand_over();
    }
  } catch (const std::exception&) {
    out_of_memory_.store(true);
  }
}

// The last chunk.
void Worker::hand_over() noexcept {
  try {
    recorder_.take(chunk_);
    if (!chunk_.empty()) attack_.sink->force(std::move(chunk_));
  } catch (const std::exception&) {
    out_of_memory_.store(true);
  }
}

}  // namespace pepe
