#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/hit.h"
#include "engine/response.h"
#include "pepe/base/time.h"
#include "pepe/result/chunk_writer.h"

namespace pepe {

/// Puts the hits of one worker into chunks of the result stream. Belongs to the worker's thread.
/// The outcome of a hit is decided here, once, when it ends: one of the three record functions runs for each hit. A
/// code is entered only with an answer that is whole. A failure has code 0 and a text that names phase and cause.
class Recorder {
 public:
  struct Options {
    std::uint64_t run_id{0};
    std::uint32_t worker{0};
    std::string attack;
    Timestamp start;        ///< Of the attack, on the wall clock: timestamps are this plus monotonic offsets.
    Instant start_instant;  ///< The same moment on the monotonic clock.
  };

  explicit Recorder(Options options);

  /// The answer is the one that the target's cache knows.
  void record_known(const Hit& hit, Instant done, bool reused);
  void record_answer(const Hit& hit, Instant done, bool reused, Response& response);
  /// `partial`: what had come of an answer, or nullptr.
  void record_failure(const Hit& hit, Instant done, bool reused, std::string_view error, Response* partial);

  /// When the open chunk is old enough to be written; Instant::max() while it is empty.
  Instant flush_at() const noexcept { return flush_at_; }
  bool full() const noexcept { return hits_in_chunk_ >= most_hits_ || writer_.full(); }
  /// Appends the open chunk to `out`, whole.
  void take(std::string& out);

 private:
  void add(OutcomeId outcome, const Hit& hit, Instant done);
  void begin_interval(Instant now);
  Outcome base_outcome(const Hit& hit, bool reused) const;
  OutcomeId intern_cached(const Hit& hit, bool reused, std::uint64_t bytes_read, std::string_view inline_body);
  void remember_body(AnswerCache& cache, Response& response, std::string_view& inline_body);

  Options options_;
  ChunkWriter writer_;
  Instant flush_at_{Instant::max()};
  Instant interval_end_{Instant::min()};
  std::uint32_t hits_in_chunk_{0};
  std::uint32_t hits_in_interval_{0};    ///< In those of its chunks that were taken.
  std::uint32_t busy_intervals_{0};      ///< In a row.
  std::uint32_t most_hits_{UINT32_MAX};  ///< Of a chunk.
};

}  // namespace pepe
