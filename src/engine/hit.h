#pragma once

#include <cstdint>
#include <memory>

#include "engine/answer_cache.h"
#include "engine/intrusive_list.h"
#include "engine/request.h"
#include "pepe/base/time.h"

namespace pepe {

class Connection;
class Pool;
struct Http2Stream;

/// A target as one worker uses it.
struct TargetState {
  const Target* target{nullptr};
  const Request* request{nullptr};
  Pool* pool{nullptr};  ///< Found at the first hit.
  AnswerCache cache;
};

/// Where a redirected hit has got to: a request of its own.
struct Redirection {
  Target target;
  Request request;
};

/// A target that was made for one hit: of a lazy list.
struct OwnedTarget {
  Target target;
  Request request;
  TargetState state;
};

/// One hit in flight, from the moment a worker takes it up. Owned by its worker; pooled.
struct Hit {
  std::uint64_t seq{0};
  Nanos lag{0};   ///< How late it was taken up.
  Instant taken;  ///< Latency and timestamp count from here.
  TargetState* target{nullptr};
  const Request* request{nullptr};  ///< What is being asked now: the target's, or that of a redirection.
  Pool* pool{nullptr};
  Connection* connection{nullptr};
  Http2Stream* stream{nullptr};  ///< Its place on an HTTP/2 connection.
  bool reused{false};            ///< It is not the first on its connection.
  Protocol protocol{Protocol::kNone};
  bool retried{false};
  std::uint32_t refusals{0};  ///< How often a server has said that it did not look at the request.
  bool wants_new_connection{false};
  bool warms_up{false};  ///< It has no result.
  std::int64_t redirects{0};
  std::unique_ptr<Redirection> redirection;
  std::unique_ptr<OwnedTarget> owned;
  ListLink<Hit> deadline_link;
  ListLink<Hit> waiting_link;

  /// Makes it as new, but for what every hit is given anew. REQUIRES: on no list.
  void reset() noexcept {
    lag = Nanos{0};
    target = nullptr;
    pool = nullptr;
    connection = nullptr;
    stream = nullptr;
    reused = retried = wants_new_connection = false;
    protocol = Protocol::kNone;
    refusals = 0;
    redirects = 0;
    redirection.reset();
    owned.reset();
  }
};

using DeadlineList = IntrusiveList<Hit, &Hit::deadline_link>;
using WaitingList = IntrusiveList<Hit, &Hit::waiting_link>;

}  // namespace pepe
