// HOT: once per hit. No allocation, lock, log or wall clock.
#include "engine/worker.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <exception>

#include "engine/reserve.h"

namespace pepe {
namespace {

constexpr std::size_t kReadBufferBytes = 256 * 1024;
constexpr std::size_t kPlainBufferBytes = 64 * 1024;
// How often a worker that does not sleep lets its io_context run.
constexpr std::uint32_t kTurnsPerPoll = 16;
constexpr std::size_t kUnfinishedPerTurn = 8;
// How often a hit is sent again that a server says it has not looked at, while others do not get on either.
constexpr std::uint32_t kMaxRefusals = 3;

bool is_redirect(int code) { return code == 301 || code == 302 || code == 303 || code == 307 || code == 308; }

}  // namespace

Worker::Worker(AttackState& attack, std::uint32_t number, WorkerShare share)
    : attack_{attack},
      share_{share},
      work_{asio::make_work_guard(io_)},
      ready_{io_},
      dialer_{make_dialer(io_, *attack.plan)},
      read_buffer_{std::make_unique_for_overwrite<char[]>(kReadBufferBytes)},
      plain_buffer_{std::make_unique_for_overwrite<char[]>(kPlainBufferBytes)},
      responses_{&attack.bodies},
      context_{
          .ready = ready_,
          .owner = *this,
          .read_buffer = {read_buffer_.get(), kReadBufferBytes},
          .plain_buffer = {plain_buffer_.get(), kPlainBufferBytes},
          .keep_limit = attack.options.max_body < 0 ? UINT64_MAX : static_cast<std::uint64_t>(attack.options.max_body),
          .writer = writer_,
          .responses = responses_,
          .unflushed = unflushed_,
          .unfinished = unfinished_},
      recorder_{{.run_id = attack.run_id,
                 .worker = number,
                 .attack = attack.options.name,
                 .start = attack.time.start,
                 .start_instant = attack.time.start_instant}},
      targets_(attack.requests.size()),
      unpaced_{attack.pacer.unpaced()},
      max_in_flight_{share.max_in_flight},
      warming_up_{attack.options.warmup > Nanos{0}},
      last_done_{attack.time.start_instant},
      last_recorded_{attack.time.start_instant} {}

Worker::~Worker() = default;

void Worker::run() {
  // The default slack lets the kernel wake a sleeper 50 us late.
  ::prctl(PR_SET_TIMERSLACK, 1);
  while (!finished() && !out_of_memory_.load(std::memory_order_relaxed)) {
    try {
      turn();
    } catch (const std::exception&) {
      recover();
    }
  }
  if (!out_of_memory_.load(std::memory_order_relaxed)) cancel_hits();
  hand_over();
  timespec spent{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  counters_.cpu.store((std::chrono::seconds{spent.tv_sec} + Nanos{spent.tv_nsec}).count());
}

// One clock read serves the whole turn but for sends and receives, which have their own: the schedule and the deadlines
// must agree on what time it is.
void Worker::turn() {
  Instant now = Clock::now();
  heed_stop();
  const bool sent = release_due_hits(now);
  settle_io();
  flush_connections();
  if (finished()) return;
  const auto events = await_events(now, sent);
  serve(events);
  if (!unfinished_.empty()) go_on_with_unfinished();
  if (!closed_connections_.empty()) reuse_closed_connections();
  now = Clock::now();
  expire(now);
  flush_connections();
  flush(now);
  // Neither a full ready set nor a schedule that is never caught up with may starve the dials that hits wait for.
  if (!io_settled_ && (!claim_ || ++turns_ % kTurnsPerPoll == 0)) io_.poll();
}

// Of a thousand connections none is in the cache when its turn comes: the next ones are fetched while the system call
// of this one runs. First the connection, which knows where its hit is.
void Worker::serve(std::span<const ReadyEvent> events) {
  const auto connection = [&](std::size_t i) { return static_cast<Connection*>(events[i].tag); };
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (i + 2 < events.size()) connection(i + 2)->prefetch();
    if (i + 1 < events.size()) connection(i + 1)->prefetch_hit();
    connection(i)->on_ready(events[i]);
  }
}

bool Worker::finished() const noexcept {
  return attack_.stop.load(std::memory_order_relaxed) == Stop::kAtOnce || (schedule_over_ && in_flight_ == 0);
}

// REQUIRES: claim_, has_target(). From the first line on the hit is in flight: one that finds no memory has a result
// too.
void Worker::take_up() {
  Hit& hit = new_hit();
  hit.seq = claim_->seq;
  hit.taken = Clock::now();
  hit.warms_up = claim_->warms_up;
  if (!unpaced_ && !hit.warms_up) hit.lag = std::max(Nanos{0}, hit.taken - claim_->due);
  claim_.reset();
  deadlines_.push_back(hit);
  ++in_flight_;
  WorkerCounters::add<std::uint64_t>(counters_.sent, 1);
  if (hit.warms_up) WorkerCounters::add<std::uint64_t>(counters_.warmup_sent, 1);
  if (hit.lag > kLateAfter) WorkerCounters::add<std::uint64_t>(counters_.late, 1);
  if (hit.lag.count() > counters_.worst_lag.load(std::memory_order_relaxed))
    counters_.worst_lag.store(hit.lag.count(), std::memory_order_relaxed);
  if (attack_.feed != nullptr) {
    hit.owned = std::move(lazy_targets_.front());
    lazy_targets_.pop_front();
    hit.owned->state.target = &hit.owned->target;
    hit.owned->state.request = &hit.owned->request;
    hit.target = &hit.owned->state;
  } else {
    hit.target = &target_for(hit.seq);
  }
  hit.request = hit.target->request;
  ask(hit);
}

TargetState& Worker::target_for(std::uint64_t seq) {
  const std::size_t index = seq % targets_.size();
  auto& state = targets_[index];
  if (!state) {
    state = std::make_unique<TargetState>();
    state->target = &attack_.targets[index];
    state->request = &attack_.requests[index];
  }
  return *state;
}

// Sends the hit's present request, as soon as there is a connection.
void Worker::ask(Hit& hit) {
  if (!hit.request->fault.empty()) return fail(hit, hit.request->fault, nullptr, false);
  if (Connection* const connection = pool_of(hit).acquire(hit)) start(*connection, hit);
}

void Worker::start(Connection& connection, Hit& hit) {
  hit.protocol = connection.protocol() == Connection::Protocol::kHttp2 ? Protocol::kHttp2 : Protocol::kHttp1;
  connection.start(hit);
}

Pool& Worker::pool_of(Hit& hit) {
  const Request& request = *hit.request;
  if (request.routes > 1) {
    Origin origin = request.origin;
    // vegeta starts with the second.
    origin.route = static_cast<std::uint32_t>((hit.seq + 1) % request.routes) + 1;
    return pool_for(origin);
  }
  if (hit.redirection) return pool_for(request.origin);
  if (hit.target->pool == nullptr) hit.target->pool = &pool_for(request.origin);
  return *hit.target->pool;
}

void Worker::on_connection(Hit& hit, Connection& connection) { start(connection, hit); }

// The descriptor of another host's idle connection serves a hit that finds none. False: there is none to close.
bool Worker::close_idle_connection() {
  return std::any_of(pools_.begin(), pools_.end(),
                     [](const auto& entry) { return entry.second && entry.second->close_idle(); });
}

// A lack of descriptors or ports is an ordinary outcome of the hits that it meets, counted so that it is said;
// recover() has that of memory. None is a reason to spin or to stop.
void Worker::on_no_connection(Hit& hit, std::string error) {
  static const std::string system_descriptors = errno_text(ENFILE);
  static const std::string descriptors = errno_text(EMFILE);
  static const std::string ports = "connect: " + errno_text(EADDRNOTAVAIL);
  const bool of_system = error.find(system_descriptors) != std::string::npos;
  const bool of_process = !of_system && error.find(descriptors) != std::string::npos;
  if ((of_system || of_process) && close_idle_connection()) return ask(hit);
  if (of_system) WorkerCounters::add<std::uint64_t>(counters_.without_system_descriptor, 1);
  if (of_process) WorkerCounters::add<std::uint64_t>(counters_.without_descriptor, 1);
  if (error.find(ports) != std::string::npos) WorkerCounters::add<std::uint64_t>(counters_.without_port, 1);
  fail(hit, error_prefix(hit.request->method, hit.request->url) + error, nullptr, false);
}

void Worker::on_known_answer(Connection& connection, Hit& hit) {
  const Instant done = Clock::now();
  if (!hit.warms_up) recorder_.record_known(hit, done, hit.reused);
  settle(hit, done, !hit.target->cache.error().empty());
  after_answer(connection);
}

void Worker::on_answer(Connection& connection, Hit& hit, Response& response) {
  const Instant done = Clock::now();
  std::string error;
  if (follow(hit, response, error)) {
    connection.pool().release(connection);
    return ask(hit);
  }
  if (!error.empty()) {
    fail(hit, error, nullptr, hit.reused);
  } else {
    if (!hit.warms_up) recorder_.record_answer(hit, done, hit.reused, response);
    // A response that was begun with a known head has no code of its own.
    const bool success =
        response.fixed() ? hit.target->cache.error().empty() : response.code() >= 200 && response.code() < 400;
    settle(hit, done, !success);
  }
  after_answer(connection);
}

// The closed loop goes on at once, on the connection that is warm.
void Worker::after_answer(Connection& connection) {
  connection.pool().release(connection);
  if (recorder_.full()) flush(Clock::now());
  if (unpaced_ && !schedule_over_) release_due_hits(last_done_);
}

void Worker::on_broken(Connection& connection, Hit& hit, Breakage breakage, std::string error, Response* response) {
  const bool reused = hit.reused;
  const bool in_body = response != nullptr && response->has_head();
  connection.pool().release(connection);
  if (breakage == Breakage::kRetired) return ask(hit);
  if (breakage == Breakage::kUnprocessed && hit.refusals++ < kMaxRefusals) return ask(hit);
  // The one rule for sending a hit twice that the server may have seen: only a safe method without a body, only on a
  // connection that was used before and may have died idle, only before the first byte of an answer, only once.
  if (breakage == Breakage::kBeforeAnswer && reused && hit.request->retry_safe && !hit.retried) {
    hit.retried = hit.wants_new_connection = true;
    return ask(hit);
  }
  if (!in_body) error.insert(0, error_prefix(hit.request->method, hit.request->url));
  fail(hit, error, in_body ? response : nullptr, reused);
}

// True: the hit goes on with another request. A text in `error`: it ends with that.
bool Worker::follow(Hit& hit, Response& response, std::string& error) {
  if (!is_redirect(response.code()) || attack_.options.redirects < 0) return false;
  const auto location = response.header("Location");
  if (!location || location->empty()) return false;
  const std::string prefix = error_prefix(hit.request->method == "HEAD" ? "HEAD"
                                          : response.code() >= 307      ? hit.request->method
                                                                        : "GET",
                                          *location);
  if (hit.redirects++ >= attack_.options.redirects) {
    error = fmt::format("{}stopped after {} redirects", prefix, attack_.options.redirects);
    return false;
  }
  const Target& previous = hit.redirection ? hit.redirection->target : *hit.target->target;
  auto next = follow_redirect(*hit.target->target, previous, response.code(), *location);
  if (!next) {
    error = error_prefix(hit.request->method, hit.request->url) + next.error().text();
    return false;
  }
  auto redirection = std::make_unique<Redirection>();
  redirection->target = *std::move(next);
  redirection->request = make_request(redirection->target, attack_.request_options);
  writer_.forget();
  hit.redirection = std::move(redirection);
  hit.request = &hit.redirection->request;
  hit.retried = hit.wants_new_connection = false;
  return true;
}

void Worker::fail(Hit& hit, std::string_view error, Response* partial, bool reused) {
  const Instant done = Clock::now();
  if (!hit.warms_up) recorder_.record_failure(hit, done, reused, error, partial);
  settle(hit, done, true);
}

void Worker::settle(Hit& hit, Instant done, bool failed) {
  last_done_ = done;
  --in_flight_;
  WorkerCounters::add<std::uint64_t>(counters_.done, 1);
  if (hit.warms_up) [[unlikely]] {
    WorkerCounters::add<std::uint64_t>(counters_.warmup_done, 1);
  } else {
    last_recorded_ = done;
    if (failed) WorkerCounters::add<std::uint64_t>(counters_.failed, 1);
  }
  free_hit(hit);
}

void Worker::flush(Instant now) {
  if (!chunk_.empty() && !attack_.sink->offer(chunk_)) return;
  if (!recorder_.full() && now < recorder_.flush_at()) return;
  recorder_.take(chunk_);
  attack_.sink->offer(chunk_);
}

// What the hits of this turn have to say on a shared connection goes out in one send.
void Worker::flush_connections() {
  // It may grow meanwhile: an answer brings the next hit.
  for (std::size_t i = 0; i < unflushed_.size(); ++i) unflushed_[i]->flush();
  unflushed_.clear();
}

// As many as take a millisecond or so; what they leave unfinished again waits for the next turn.
void Worker::go_on_with_unfinished() {
  const std::size_t count = std::min(unfinished_.size(), kUnfinishedPerTurn);
  for (std::size_t i = 0; i < count; ++i) unfinished_[i]->go_on();
  unfinished_.erase(unfinished_.begin(), unfinished_.begin() + static_cast<std::ptrdiff_t>(count));
}

Hit& Worker::new_hit() {
  if (free_hits_.empty()) {
    reserve_for(free_hits_, hits_.size() + 1);
    return hits_.emplace_back();
  }
  Hit& hit = *free_hits_.back();
  free_hits_.pop_back();
  return hit;
}

void Worker::free_hit(Hit& hit) {
  if (DeadlineList::contains(hit)) deadlines_.erase(hit);
  if (hit.owned || hit.redirection) writer_.forget();
  hit.reset();
  free_hits_.push_back(&hit);
}

}  // namespace pepe
