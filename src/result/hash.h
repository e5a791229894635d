#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace pepe {

/// A fast hash of `bytes`, 16 at a time: each step multiplies two words to 128 bits and folds the halves.
/// Servers choose what is hashed, so `seed` is random. Differs between machines: never written to a file.
inline std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t seed) noexcept {
  __extension__ using Wide = unsigned __int128;
  const auto fold = [](std::uint64_t a, std::uint64_t b) {
    const Wide product = static_cast<Wide>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  };
  const auto load = [](const char* at) {
    std::uint64_t word;
    std::memcpy(&word, at, sizeof word);
    return word;
  };
  constexpr std::uint64_t kOddA = 0x9E3779B97F4A7C15U;
  constexpr std::uint64_t kOddB = 0xD6E8FEB86659FD93U;
  const char* at = bytes.data();
  std::size_t left = bytes.size();
  std::uint64_t hash = fold(seed ^ kOddA, bytes.size() ^ kOddB);
  for (; left > 16; at += 16, left -= 16) hash = fold(load(at) ^ kOddA, load(at + 8) ^ hash);
  // The last 1 to 16 bytes: two words that may overlap.
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  if (left >= 8) {
    low = load(at);
    high = load(at + left - 8);
  } else if (left >= 4) {
    std::uint32_t first;
    std::uint32_t last;
    std::memcpy(&first, at, sizeof first);
    std::memcpy(&last, at + left - 4, sizeof last);
    low = first;
    high = last;
  } else if (left > 0) {
    low = static_cast<unsigned char>(at[0]);
    high = (std::uint64_t{static_cast<unsigned char>(at[left / 2])} << 8) | static_cast<unsigned char>(at[left - 1]);
  }
  return fold(low ^ kOddA ^ hash, high ^ kOddB);
}

}  // namespace pepe
