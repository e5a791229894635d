#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace pepe {

inline std::uint8_t swap_bytes(std::uint8_t value) noexcept { return value; }
inline std::uint16_t swap_bytes(std::uint16_t value) noexcept { return __builtin_bswap16(value); }
inline std::uint32_t swap_bytes(std::uint32_t value) noexcept { return __builtin_bswap32(value); }
inline std::uint64_t swap_bytes(std::uint64_t value) noexcept { return __builtin_bswap64(value); }

/// Stores `value` at `at`, most significant byte first.
template <class Unsigned>
void store_big(char* at, Unsigned value) noexcept {
  if constexpr (std::endian::native == std::endian::little) value = swap_bytes(value);
  std::memcpy(at, &value, sizeof value);
}

/// The value whose bytes stand at `at`, most significant byte first.
template <class Unsigned>
Unsigned load_big(const char* at) noexcept {
  Unsigned value;
  std::memcpy(&value, at, sizeof value);
  if constexpr (std::endian::native == std::endian::little) value = swap_bytes(value);
  return value;
}

inline std::uint64_t load_little64(const char* at) noexcept {
  std::uint64_t value;
  std::memcpy(&value, at, sizeof value);
  if constexpr (std::endian::native == std::endian::big) value = swap_bytes(value);
  return value;
}

}  // namespace pepe
