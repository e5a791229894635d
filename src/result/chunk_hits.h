#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "pepe/base/expected.h"
#include "pepe/result/codec.h"
#include "pepe/result/result.h"
#include "result/chunk_format.h"
#include "result/chunk_payload.h"
#include "result/kept_bodies.h"
#include "result/msgpack_reader.h"

namespace pepe {

/// The hits of one chunk as results. Views into the payload and into KeptBodies; both have to stay until the last hit.
/// Memory is kept from chunk to chunk.
class ChunkHits {
 public:
  enum class Step { kHit, kEnd, kMalformed };

  explicit ChunkHits(DecodeOptions options) : options_{options} {}

  /// Reads the dictionary. Error: what is malformed; there are no hits then.
  Expected<void> open(const ChunkPayload& payload, const KeptBodies& kept);
  /// The next hit. kMalformed: no further one can be read.
  Step next(Result& out) noexcept;
  /// Carries the chunk's bodies over to `kept`, or removes those that no later chunk refers to.
  void hand_over(const ChunkPayload& payload, KeptBodies& kept) const;

  /// Results so far whose body is not in this chunk and was not kept.
  std::uint64_t lost_bodies() const noexcept { return lost_bodies_; }

 private:
  struct Body {
    std::uint64_t id;
    std::string_view bytes;
  };
  struct Block {
    std::size_t first;
    std::size_t count;
  };
  struct Entry {
    Result result;  ///< All but what each hit has of its own.
    bool body_lost;
  };
  /// Values of one row by kOutcomeColumnNames; a slot more for columns that are not known.
  using OutcomeRow = std::array<std::uint64_t, kOutcomeColumnNames.size() + 1>;
  using HitRow = std::array<std::uint64_t, kHitColumnNames.size() + 1>;

  Expected<void> read_strings(std::string_view value);
  Expected<void> read_headers(std::string_view value);
  Expected<void> read_bodies(std::string_view value);
  Expected<void> read_outcomes(const ChunkPayload& payload, const KeptBodies& kept);
  Expected<void> open_hits(const ChunkPayload& payload);
  Expected<Entry> make_entry(const OutcomeRow& row, std::uint64_t writer, const KeptBodies& kept) const;
  bool find_string(std::uint64_t index, std::string_view& text) const noexcept;
  std::optional<std::string_view> find_body(std::uint64_t id) const noexcept;

  DecodeOptions options_;
  std::vector<std::string_view> strings_;
  std::vector<HeaderView> fields_;
  std::vector<Block> blocks_;
  std::vector<Body> bodies_;  ///< By id.
  std::vector<Entry> entries_;
  std::vector<unsigned char> columns_;  ///< Of the hits: slots of a HitRow.

  const char* at_{nullptr};
  const char* end_{nullptr};
  std::size_t left_{0};  ///< Hits.
  std::uint64_t seq_{0};
  std::uint64_t due_{0};
  std::uint64_t step_{0};
  std::uint64_t lost_bodies_{0};
};

}  // namespace pepe
