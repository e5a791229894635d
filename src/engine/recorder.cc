// HOT: once per hit. No allocation, lock, log or wall clock.
#include "engine/recorder.h"

namespace pepe {
namespace {

// How long a hit may wait for its chunk to be written: what a kill -9 can cost, and how far a reader of a pipe is
// behind. A quiet stream is written almost hit by hit; a busy one gathers, so that the dictionary that each chunk
// repeats is shared by many hits. Written after 250 ms is what is promised: a fifth of that is for the wake-ups of the
// worker and of the sink, which a busy machine delays.
constexpr Nanos kQuietInterval = std::chrono::milliseconds{25};
constexpr Nanos kBusyInterval = std::chrono::milliseconds{200};
// Either way the line is at 320 hits a second.
constexpr std::uint32_t kBusyFrom = 8;
constexpr std::uint32_t kBusyBelow = 64;
// So many intervals in a row make a stream busy: a burst alone, after the machine held the sender up, does not.
constexpr std::uint32_t kBusyIntervals = 4;
// A cut or a flipped bit costs a chunk, in a quiet stream so many hits: also of such a burst, up to the size at which
// it is none.
constexpr std::uint32_t kQuietHits = 3;
constexpr std::uint32_t kBurstHits = 24;

}  // namespace

Recorder::Recorder(Options options)
    : options_{std::move(options)}, writer_{{.run_id = options_.run_id, .writer = options_.worker}} {}

void Recorder::record_known(const Hit& hit, Instant done, bool reused) {
  AnswerCache& cache = hit.target->cache;
  OutcomeId& outcome = cache.outcome(reused, hit.protocol);
  if (!writer_.is_current(outcome)) outcome = intern_cached(hit, reused, cache.content_length(), {});
  add(outcome, hit, done);
}

void Recorder::record_answer(const Hit& hit, Instant done, bool reused, Response& response) {
  AnswerCache& cache = hit.target->cache;
  std::string_view inline_body;
  remember_body(cache, response, inline_body);
  if (response.fixed()) {
    const OutcomeId outcome = intern_cached(hit, reused, response.bytes_read(), inline_body);
    if (inline_body.empty()) cache.outcome(reused, hit.protocol) = outcome;
    return add(outcome, hit, done);
  }
  const bool success = response.code() >= 200 && response.code() < 400;
  const std::string error = success ? std::string{} : response.status_text();
  Outcome outcome = base_outcome(hit, reused);
  outcome.code = static_cast<std::uint16_t>(response.code());
  outcome.bytes_out = hit.target->request->body_bytes;
  outcome.bytes_in = response.body().kept();
  outcome.bytes_read = response.bytes_read();
  outcome.error = error;
  outcome.headers = response.headers();
  outcome.has_headers = true;
  outcome.has_body = outcome.bytes_in > 0;
  outcome.stored = cache.body;
  outcome.body = inline_body;
  add(writer_.intern(outcome), hit, done);
}

void Recorder::record_failure(const Hit& hit, Instant done, bool reused, std::string_view error, Response* partial) {
  Outcome outcome = base_outcome(hit, reused);
  outcome.error = error;
  if (partial != nullptr) {
    outcome.bytes_read = partial->bytes_read();
    outcome.body = partial->body().bytes();
    outcome.has_body = !outcome.body.empty();
    if (outcome.has_body) outcome.stored = writer_.store_body(outcome.body);
  }
  add(writer_.intern(outcome), hit, done);
}

void Recorder::take(std::string& out) {
  writer_.take(out);
  flush_at_ = Instant::max();
  hits_in_interval_ += hits_in_chunk_;
  hits_in_chunk_ = 0;
  if (hits_in_interval_ >= kBurstHits) most_hits_ = UINT32_MAX;
}

void Recorder::add(OutcomeId outcome, const Hit& hit, Instant done) {
  const Nanos offset = hit.taken - options_.start_instant;
  writer_.add(outcome, hit.seq, options_.start.unix_nanos + offset.count(), done - hit.taken, hit.lag);
  ++hits_in_chunk_;
  if (flush_at_ != Instant::max()) return;
  if (done >= interval_end_) begin_interval(done);
  flush_at_ = interval_end_;
}

// Judges the interval before it: whether the stream is busy.
void Recorder::begin_interval(Instant now) {
  const std::uint32_t enough = busy_intervals_ >= kBusyIntervals ? kBusyBelow : kBusyFrom;
  busy_intervals_ = hits_in_interval_ >= enough ? busy_intervals_ + 1 : 0;
  const bool busy = busy_intervals_ >= kBusyIntervals;
  most_hits_ = busy || hits_in_interval_ >= kBurstHits ? UINT32_MAX : kQuietHits;
  hits_in_interval_ = 0;
  interval_end_ = now + (busy ? kBusyInterval : kQuietInterval);
}

Outcome Recorder::base_outcome(const Hit& hit, bool reused) const {
  Outcome outcome;
  outcome.attack = options_.attack;
  outcome.method = hit.target->request->method;
  outcome.url = hit.target->request->url;
  outcome.reused = reused;
  outcome.protocol = hit.protocol;
  outcome.zone_minutes = options_.start.zone_minutes;
  return outcome;
}

// The head that the cache knows, with the body that it holds or with `inline_body`.
OutcomeId Recorder::intern_cached(const Hit& hit, bool reused, std::uint64_t bytes_read, std::string_view inline_body) {
  const AnswerCache& cache = hit.target->cache;
  Outcome outcome = base_outcome(hit, reused);
  outcome.code = cache.code();
  outcome.bytes_out = hit.target->request->body_bytes;
  outcome.bytes_in = cache.body ? cache.body.bytes().size() : inline_body.size();
  outcome.bytes_read = bytes_read;
  outcome.error = cache.error();
  outcome.headers = cache.headers();
  outcome.has_headers = true;
  outcome.has_body = outcome.bytes_in > 0;
  outcome.stored = cache.body;
  outcome.body = inline_body;
  return writer_.intern(outcome);
}

// Makes the response's body the target's last one, or gives it as `inline_body` when it is too large to keep.
void Recorder::remember_body(AnswerCache& cache, Response& response, std::string_view& inline_body) {
  if (cache.body && response.body().matches() && response.body().candidate() == cache.body) return;
  cache.forget_outcomes();
  const std::string_view bytes = response.body().bytes();
  cache.body = bytes.empty() ? BodyRef{} : writer_.store_body(bytes);
  if (!cache.body) inline_body = bytes;
}

}  // namespace pepe
