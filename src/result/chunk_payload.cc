#include "result/chunk_payload.h"

#include <cstddef>

#include "result/chunk_format.h"
#include "result/msgpack_reader.h"

namespace pepe {
namespace {

struct NumberKey {
  std::string_view name;
  std::uint64_t ChunkPayload::*value;
};
constexpr NumberKey kNumberKeys[] = {
    {key::kRun, &ChunkPayload::run}, {key::kWriter, &ChunkPayload::writer}, {key::kSeq, &ChunkPayload::seq},
    {key::kDue, &ChunkPayload::due}, {key::kStep, &ChunkPayload::step},
};

struct ValueKey {
  std::string_view name;
  std::string_view ChunkPayload::*value;
};
constexpr ValueKey kValueKeys[] = {
    {key::kStrings, &ChunkPayload::strings},
    {key::kHeaders, &ChunkPayload::headers},
    {key::kBodies, &ChunkPayload::bodies},
    {key::kDrop, &ChunkPayload::drop},
    {key::kOutcomeColumns, &ChunkPayload::outcome_columns},
    {key::kOutcomes, &ChunkPayload::outcomes},
    {key::kColumns, &ChunkPayload::columns},
    {key::kHits, &ChunkPayload::hits},
    {key::kFacts, &ChunkPayload::facts},
};

// Reads the value of `name` into `payload`, or passes over it.
bool read_value(std::string_view name, bool last, std::string_view bytes, MsgpackReader& reader,
                ChunkPayload& payload) noexcept {
  for (const NumberKey& known : kNumberKeys) {
    if (name == known.name) return reader.read_int(payload.*known.value);
  }
  const std::size_t from = reader.pos();
  if (last && name == key::kHits) {
    payload.hits = bytes.substr(from);
    return true;
  }
  if (!reader.skip()) return false;
  for (const ValueKey& known : kValueKeys) {
    if (name == known.name) payload.*known.value = bytes.substr(from, reader.pos() - from);
  }
  return true;
}

}  // namespace

std::optional<ChunkPayload> parse_chunk_payload(std::string_view bytes) noexcept {
  MsgpackReader reader{bytes};
  std::size_t count = 0;
  if (!reader.read_map(count)) return std::nullopt;
  ChunkPayload payload;
  for (std::size_t i = 0; i < count; ++i) {
    std::string_view name;
    if (!reader.read_bytes(name) || !read_value(name, i + 1 == count, bytes, reader, payload)) return std::nullopt;
  }
  return payload;
}

}  // namespace pepe
