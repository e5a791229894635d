#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "result/endian.h"

namespace pepe {

/// Reads the integer at `at`, of any msgpack form, as two's complement into `bits`. Returns the byte after it, nullptr
/// when none stands there or it goes beyond `end`.
inline const char* read_msgpack_int(const char* at, const char* end, std::uint64_t& bits) noexcept {
  if (at >= end) [[unlikely]]
    return nullptr;
  const auto lead = static_cast<unsigned char>(*at++);
  const auto left = static_cast<std::size_t>(end - at);
  if (lead < 0x80) {
    bits = lead;
    return at;
  }
  if (lead == 0xCE && left >= 4) {
    bits = load_big<std::uint32_t>(at);
    return at + 4;
  }
  if (lead == 0xCD && left >= 2) {
    bits = load_big<std::uint16_t>(at);
    return at + 2;
  }
  if (lead >= 0xE0) {
    bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<signed char>(lead)));
    return at;
  }
  const auto sign_extend = [](auto value) { return static_cast<std::uint64_t>(std::int64_t{value}); };
  switch (lead) {
    case 0xCC:
      if (left < 1) return nullptr;
      bits = static_cast<unsigned char>(*at);
      return at + 1;
    case 0xD0:
      if (left < 1) return nullptr;
      bits = sign_extend(static_cast<std::int8_t>(*at));
      return at + 1;
    case 0xD1:
      if (left < 2) return nullptr;
      bits = sign_extend(static_cast<std::int16_t>(load_big<std::uint16_t>(at)));
      return at + 2;
    case 0xD2:
      if (left < 4) return nullptr;
      bits = sign_extend(static_cast<std::int32_t>(load_big<std::uint32_t>(at)));
      return at + 4;
    case 0xCF:
    case 0xD3:
      if (left < 8) return nullptr;
      bits = load_big<std::uint64_t>(at);
      return at + 8;
    default: return nullptr;
  }
}

/// Steps through msgpack values, each of which the caller knows the type of. Every call is false, and then leaves the
/// position anywhere, when there is no such value or it is not whole.
class MsgpackReader {
 public:
  explicit MsgpackReader(std::string_view bytes) noexcept
      : begin_{bytes.data()}, at_{bytes.data()}, end_{bytes.data() + bytes.size()} {}

  std::size_t pos() const noexcept { return static_cast<std::size_t>(at_ - begin_); }
  std::size_t left() const noexcept { return static_cast<std::size_t>(end_ - at_); }

  bool read_int(std::uint64_t& bits) noexcept {
    const char* next = read_msgpack_int(at_, end_, bits);
    if (next == nullptr) return false;
    at_ = next;
    return true;
  }
  /// The count of an array; its items follow. No more than there are bytes left, so it may be trusted for memory.
  bool read_array(std::size_t& count) noexcept { return read_count(0x90, 0xDC, 1, count); }
  /// The count of a map; so many keys with their values follow.
  bool read_map(std::size_t& count) noexcept { return read_count(0x80, 0xDE, 2, count); }
  /// A string or a byte string.
  bool read_bytes(std::string_view& bytes) noexcept;
  /// Passes over one value of any type, whatever its depth.
  bool skip() noexcept;

 private:
  bool read_count(unsigned fix, unsigned wide, std::size_t values_each, std::size_t& count) noexcept;
  template <class Unsigned>
  bool read_big(std::size_t& value) noexcept {
    if (left() < sizeof(Unsigned)) return false;
    value = load_big<Unsigned>(at_);
    at_ += sizeof(Unsigned);
    return true;
  }
  bool advance(std::size_t bytes) noexcept {
    if (left() < bytes) return false;
    at_ += bytes;
    return true;
  }
  /// Passes over one value but for the items of an array or map: their number is added to `pending`.
  bool skip_head(std::uint64_t& pending) noexcept;

  const char* begin_;
  const char* at_;
  const char* end_;
};

}  // namespace pepe
