#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pepe {

// The frame of a chunk and the names and limits of what is in it; docs/result-format.md is the same in words.

/// The first bytes of each chunk. 0xC1 starts nothing in msgpack, and no message of gob; the line break shows up a
/// transfer that rewrote them.
inline constexpr std::string_view kChunkMagic{"\xC1pepe\r\n", 7};
inline constexpr unsigned char kFormatVersion = 1;
inline constexpr std::size_t kChunkHeadBytes = 20;

inline constexpr std::size_t kMaxPayload = std::size_t{1} << 30;
/// Set aside of kMaxPayload for all that is neither a string nor a body.
inline constexpr std::size_t kPayloadReserve = std::size_t{16} << 20;
/// A writer's chunk is full at this size at the latest, so that the counts below hold for every chunk.
inline constexpr std::size_t kMaxChunkBytes = std::size_t{256} << 10;
inline constexpr std::size_t kMaxFieldsPerBlock = 100'000;
inline constexpr std::size_t kMaxStrings = std::size_t{1} << 19;
inline constexpr std::size_t kMaxFields = std::size_t{1} << 18;
inline constexpr std::size_t kMaxBodies = std::size_t{1} << 17;
inline constexpr std::size_t kMaxOutcomes = std::size_t{1} << 16;
inline constexpr std::size_t kMaxColumns = 64;
/// Bodies that a reader keeps for later chunks, in all; the writers of a run share it.
inline constexpr std::size_t kMaxKeptBodyBytes = std::size_t{256} << 20;
/// What the record of a kept body counts for beside its bytes.
inline constexpr std::size_t kBodyOverhead = 128;

/// The body of an outcome that has none, and of one that has an empty one. Stored bodies are numbered from 1.
inline constexpr std::int64_t kNoBody = -1;
inline constexpr std::int64_t kEmptyBody = 0;
/// The headers of an outcome that has none at all.
inline constexpr std::int64_t kNoHeaders = -1;

namespace key {
inline constexpr std::string_view kRun = "run";
inline constexpr std::string_view kWriter = "writer";
inline constexpr std::string_view kStrings = "strings";
inline constexpr std::string_view kHeaders = "headers";
inline constexpr std::string_view kBodies = "bodies";
inline constexpr std::string_view kDrop = "drop";
inline constexpr std::string_view kOutcomeColumns = "outcome_columns";
inline constexpr std::string_view kOutcomes = "outcomes";
inline constexpr std::string_view kSeq = "seq";
inline constexpr std::string_view kDue = "due";
inline constexpr std::string_view kStep = "step";
inline constexpr std::string_view kColumns = "columns";
inline constexpr std::string_view kHits = "hits";
inline constexpr std::string_view kFacts = "facts";
}  // namespace key

inline constexpr std::array<std::string_view, 14> kOutcomeColumnNames{
    "attack", "method",  "url",  "code",   "bytes_out", "bytes_in", "bytes_read",
    "error",  "headers", "body", "reused", "zone",      "protocol", "no_lag"};
inline constexpr std::array<std::string_view, 5> kHitColumnNames{"outcome", "seq", "due", "latency", "lag"};

/// The head of a chunk, as far as it is to be believed: its own checksum fits.
struct ChunkHead {
  unsigned char version{0};
  std::size_t payload_bytes{0};
  std::uint32_t payload_crc{0};
};

/// The head that `bytes` begins with; nullopt when there is none, or `bytes` is shorter than one.
std::optional<ChunkHead> parse_chunk_head(std::string_view bytes) noexcept;

/// Where the payload of a chunk starts in `out`, after room for its head was appended there.
std::size_t open_chunk(std::string& out);
/// Fills in the head of the chunk whose payload is all of `out` from `payload_at` on.
void close_chunk(std::string& out, std::size_t payload_at) noexcept;

}  // namespace pepe
