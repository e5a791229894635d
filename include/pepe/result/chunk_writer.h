#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "pepe/base/time.h"
#include "pepe/result/result.h"
#include "pepe/result/run_facts.h"

namespace pepe {

/// A response body that the stream holds already. Owned by the ChunkWriter; compared with, byte by byte, as the next
/// body of the same target arrives, so that a repeated body is neither copied nor hashed.
class StoredBody;

/// A count of users that keeps a StoredBody from being dropped while it is compared with. Not thread-safe.
class BodyRef {
 public:
  BodyRef() = default;
  explicit BodyRef(StoredBody* body) noexcept;
  BodyRef(const BodyRef& other) noexcept;
  BodyRef(BodyRef&& other) noexcept;
  BodyRef& operator=(BodyRef other) noexcept;
  ~BodyRef();
  explicit operator bool() const noexcept { return body_ != nullptr; }
  std::string_view bytes() const noexcept;
  friend bool operator==(const BodyRef&, const BodyRef&) = default;

 private:
  friend class ChunkWriter;
  StoredBody* body_{nullptr};
};

/// All of a hit that tends to be the same for many hits. Views are not kept beyond the call.
struct Outcome {
  std::string_view attack{};
  std::string_view method{};
  std::string_view url{};
  std::uint16_t code{0};
  std::uint64_t bytes_out{0};
  std::uint64_t bytes_in{0};
  std::uint64_t bytes_read{0};
  std::string_view error{};
  std::span<const HeaderView> headers{};
  bool has_headers{false};
  bool has_body{false};
  /// The body: a stored one, or `body` (bytes given inline, stored in this chunk only) when `stored` is empty.
  BodyRef stored{};
  std::string_view body{};
  bool reused{false};
  Protocol protocol{Protocol::kNone};
  std::int16_t zone_minutes{0};
  bool has_lag{true};  ///< false: nobody knows how late the hit was taken up.
};

/// An Outcome that the open chunk holds already. Valid until that chunk is taken: ask is_current() before each use.
struct OutcomeId {
  std::uint32_t index{0};
  std::uint32_t chunk{0};  ///< 0: never valid.
};

struct ChunkWriterOptions {
  std::uint64_t run_id{0};
  std::uint32_t writer{0};                        ///< Number of this writer within the run: each worker has its own.
  std::size_t chunk_bytes{64 * 1024};             ///< A chunk is full from this size on.
  std::size_t body_table_bytes{8 * 1024 * 1024};  ///< Bodies kept for comparison, in all.
};

/// Encodes the results of one worker as chunks of the native stream (docs/result-format.md). Not thread-safe.
/// HOT: add() is called once per hit and neither allocates nor makes a system call once the buffers have grown.
class ChunkWriter {
 public:
  explicit ChunkWriter(ChunkWriterOptions options);
  ~ChunkWriter();
  ChunkWriter(ChunkWriter&&) noexcept;

  /// Whether `id` refers to the open chunk.
  bool is_current(OutcomeId id) const noexcept;
  /// Puts `outcome` into the dictionary of the open chunk, or finds it there.
  OutcomeId intern(const Outcome& outcome);
  /// Records one hit. REQUIRES: is_current(outcome).
  void add(OutcomeId outcome, std::uint64_t seq, std::int64_t unix_nanos, Nanos latency, Nanos lag);

  /// The stored body equal to `bytes`, stored now if there is none. Empty when the body is too large for the table:
  /// give it to intern() inline.
  BodyRef store_body(std::string_view bytes);

  /// Bytes that the open chunk would have now; 0 when it is empty.
  std::size_t size() const noexcept;
  bool full() const noexcept;
  /// Appends the open chunk to `out`, whole, and opens the next one. Nothing when it is empty.
  void take(std::string& out);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A chunk that states the facts of a run: written first, and again, complete, as the last of all.
void append_facts_chunk(const RunFacts& facts, std::string& out);

}  // namespace pepe
