#include "result/chunk_format.h"

#include <cstring>

#include "pepe/base/check.h"
#include "result/crc32c.h"
#include "result/endian.h"

namespace pepe {
namespace {

constexpr std::size_t kVersionAt = 7;
constexpr std::size_t kLengthAt = 8;
constexpr std::size_t kPayloadCrcAt = 12;
constexpr std::size_t kHeadCrcAt = 16;

}  // namespace

std::optional<ChunkHead> parse_chunk_head(std::string_view bytes) noexcept {
  if (bytes.size() < kChunkHeadBytes || !bytes.starts_with(kChunkMagic)) return std::nullopt;
  if (load_big<std::uint32_t>(bytes.data() + kHeadCrcAt) != crc32c(bytes.substr(0, kHeadCrcAt))) return std::nullopt;
  return ChunkHead{.version = static_cast<unsigned char>(bytes[kVersionAt]),
                   .payload_bytes = load_big<std::uint32_t>(bytes.data() + kLengthAt),
                   .payload_crc = load_big<std::uint32_t>(bytes.data() + kPayloadCrcAt)};
}

std::size_t open_chunk(std::string& out) {
  out.append(kChunkHeadBytes, '\0');
  return out.size();
}

void close_chunk(std::string& out, std::size_t payload_at) noexcept {
  const std::size_t payload_bytes = out.size() - payload_at;
  PEPE_CHECK(payload_bytes <= kMaxPayload);
  char* head = out.data() + payload_at - kChunkHeadBytes;
  std::memcpy(head, kChunkMagic.data(), kChunkMagic.size());
  head[kVersionAt] = static_cast<char>(kFormatVersion);
  store_big(head + kLengthAt, static_cast<std::uint32_t>(payload_bytes));
  store_big(head + kPayloadCrcAt, crc32c({out.data() + payload_at, payload_bytes}));
  store_big(head + kHeadCrcAt, crc32c({head, kHeadCrcAt}));
}

}  // namespace pepe
