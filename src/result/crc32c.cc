#include "result/crc32c.h"

#include <array>
#include <cstddef>

#include "result/endian.h"

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace pepe {
namespace {

using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

// tables[k][b]: the effect of byte b that is followed by k zero bytes, so that eight bytes are taken in one step.
constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82F63B78U : 0U);
    tables[0][byte] = crc;
  }
  for (std::size_t k = 1; k < tables.size(); ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t crc = tables[k - 1][byte];
      tables[k][byte] = (crc >> 8) ^ tables[0][crc & 0xFF];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t crc32c_sse42(std::string_view bytes) noexcept {
  const char* at = bytes.data();
  std::size_t left = bytes.size();
  std::uint64_t crc = 0xFFFFFFFFU;
  for (; left >= 8; at += 8, left -= 8) crc = _mm_crc32_u64(crc, load_little64(at));
  for (; left > 0; ++at, --left) {
    crc = _mm_crc32_u8(static_cast<std::uint32_t>(crc), static_cast<unsigned char>(*at));
  }
  return ~static_cast<std::uint32_t>(crc);
}

bool has_sse42() noexcept {
  static const bool has = __builtin_cpu_supports("sse4.2") != 0;
  return has;
}
#endif

}  // namespace

std::uint32_t crc32c_portable(std::string_view bytes) noexcept {
  const char* at = bytes.data();
  std::size_t left = bytes.size();
  std::uint32_t crc = 0xFFFFFFFFU;
  for (; left >= 8; at += 8, left -= 8) {
    const std::uint64_t word = load_little64(at) ^ crc;
    crc = 0;
    for (std::size_t k = 0; k < 8; ++k) crc ^= kTables[7 - k][(word >> (8 * k)) & 0xFF];
  }
  for (; left > 0; ++at, --left) {
    crc = (crc >> 8) ^ kTables[0][(crc ^ static_cast<unsigned char>(*at)) & 0xFF];
  }
  return ~crc;
}

std::uint32_t crc32c(std::string_view bytes) noexcept {
#if defined(__x86_64__)
  if (has_sse42()) return crc32c_sse42(bytes);
#endif
  return crc32c_portable(bytes);
}

}  // namespace pepe
