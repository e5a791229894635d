#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace pepe {

/// The values of a chunk's payload by their keys: views of the msgpack value, empty for a key that is not there.
struct ChunkPayload {
  std::uint64_t run{0};
  std::uint64_t writer{0};
  std::uint64_t seq{0};
  std::uint64_t due{0};
  std::uint64_t step{0};
  std::string_view strings;
  std::string_view headers;
  std::string_view bodies;
  std::string_view drop;
  std::string_view outcome_columns;
  std::string_view outcomes;
  std::string_view columns;
  std::string_view hits;  ///< Up to the end of the payload where it is the last value: its own end is not looked for.
  std::string_view facts;
};

/// `bytes` taken apart. nullopt: not a map, or a value that is not whole. Unknown keys are passed over.
std::optional<ChunkPayload> parse_chunk_payload(std::string_view bytes) noexcept;

}  // namespace pepe
