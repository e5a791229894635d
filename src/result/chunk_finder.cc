#include "result/chunk_finder.h"

#include <fmt/format.h>

#include <optional>

#include "result/chunk_format.h"
#include "result/crc32c.h"

namespace pepe {
namespace {

constexpr std::string_view kNoChunk = "no chunk begins here";
constexpr std::string_view kTorn = "the stream ends inside a chunk";
constexpr std::string_view kTooLong = "a chunk is longer than the format allows";
constexpr std::string_view kCorrupt = "a chunk does not fit its checksum";

// Damaged bytes are summed at most so many times over, beyond what one torn chunk may cost. Only a stream made to keep
// a reader busy reaches it: heads in the middle of the payload of others, each with a long payload of its own.
constexpr std::uint64_t kMaxSumsPerByte = 16;

std::uint64_t position(const InputWindow& in) noexcept { return in.offset + in.pos; }

}  // namespace

Expected<ChunkFinder::Found> ChunkFinder::find(InputWindow& in, std::string_view& payload) {
  for (;;) {
    const std::string_view rest = in.rest();
    if (rest.size() < kChunkHeadBytes && !in.at_end) return Found::kNeedMore;
    if (rest.empty()) {
      report_lost(in);
      return Found::kEnd;
    }
    const std::optional<ChunkHead> head = parse_chunk_head(rest);
    if (!head) {
      const bool cut = rest.size() < kChunkHeadBytes && rest.starts_with(kChunkMagic.substr(0, rest.size()));
      lose_up_to_magic(in, cut ? kTorn : kNoChunk);
      continue;
    }
    if (head->version != kFormatVersion) {
      report_lost(in);
      return Error{fmt::format("byte {}: results in version {} of the format, this pepe reads version {} only",
                               position(in), head->version, kFormatVersion)};
    }
    if (head->payload_bytes > kMaxPayload) {
      lose_up_to_magic(in, kTooLong);
      continue;
    }
    const std::size_t size = kChunkHeadBytes + head->payload_bytes;
    if (rest.size() < size) {
      if (!in.at_end) return Found::kNeedMore;
      lose_up_to_magic(in, kTorn);
      continue;
    }
    payload = rest.substr(kChunkHeadBytes, head->payload_bytes);
    if (crc32c(payload) == head->payload_crc) {
      report_lost(in);
      return Found::kChunk;
    }
    // A chunk that was torn by the end of a run and has another stream behind it can't be passed over by its length;
    // one with a flipped bit can, and then nothing inside it is mistaken for a chunk.
    if (rest.size() < size + kChunkHeadBytes && !in.at_end) return Found::kNeedMore;
    if (!spend(in, payload.size())) return Error{fmt::format("byte {}: damaged beyond reading", position(in))};
    if (rest.size() == size || parse_chunk_head(rest.substr(size))) {
      lose(in, size, kCorrupt);
    } else {
      lose_up_to_magic(in, kCorrupt);
    }
  }
}

bool ChunkFinder::spend(const InputWindow& in, std::size_t bytes) noexcept {
  spent_ += bytes;
  return spent_ / kMaxSumsPerByte <= position(in) + kMaxPayload / kMaxSumsPerByte;
}

void ChunkFinder::lose(InputWindow& in, std::size_t bytes, std::string_view reason) {
  if (!losing_) {
    losing_ = true;
    lost_from_ = position(in);
    reason_ = reason;
  }
  in.pos += bytes;
}

void ChunkFinder::lose_up_to_magic(InputWindow& in, std::string_view reason) {
  const std::string_view rest = in.rest();
  std::size_t next = rest.find(kChunkMagic, 1);
  // The window may end inside a magic.
  if (next == std::string_view::npos) next = in.at_end ? rest.size() : rest.size() - (kChunkMagic.size() - 1);
  lose(in, next, reason);
}

void ChunkFinder::report_lost(const InputWindow& in) {
  if (!losing_) return;
  losing_ = false;
  damage_.add(fmt::format("bytes {} to {} are lost: {}", lost_from_, position(in) - 1, reason_));
}

}  // namespace pepe
