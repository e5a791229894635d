#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include "result/endian.h"

namespace pepe {

/// Most bytes that one integer, or the head of one array, map or byte string takes in msgpack.
inline constexpr std::size_t kMaxMsgpackHead = 9;

/// Writes `value` at `at` in msgpack's shortest form; returns the end. Needs kMaxMsgpackHead bytes of room.
inline char* put_uint(char* at, std::uint64_t value) noexcept {
  if (value < 0x80) {
    *at = static_cast<char>(value);
    return at + 1;
  }
  if (value <= 0xFFFF) {
    if (value <= 0xFF) {
      at[0] = static_cast<char>(0xCC);
      at[1] = static_cast<char>(value);
      return at + 2;
    }
    at[0] = static_cast<char>(0xCD);
    store_big(at + 1, static_cast<std::uint16_t>(value));
    return at + 3;
  }
  if (value <= 0xFFFFFFFF) {
    at[0] = static_cast<char>(0xCE);
    store_big(at + 1, static_cast<std::uint32_t>(value));
    return at + 5;
  }
  at[0] = static_cast<char>(0xCF);
  store_big(at + 1, value);
  return at + 9;
}

inline char* put_int(char* at, std::int64_t value) noexcept {
  const auto bits = static_cast<std::uint64_t>(value);
  if (value >= 0) return put_uint(at, bits);
  if (value >= -32) {
    *at = static_cast<char>(bits);
    return at + 1;
  }
  if (value >= INT16_MIN) {
    if (value >= INT8_MIN) {
      at[0] = static_cast<char>(0xD0);
      at[1] = static_cast<char>(bits);
      return at + 2;
    }
    at[0] = static_cast<char>(0xD1);
    store_big(at + 1, static_cast<std::uint16_t>(bits));
    return at + 3;
  }
  if (value >= INT32_MIN) {
    at[0] = static_cast<char>(0xD2);
    store_big(at + 1, static_cast<std::uint32_t>(bits));
    return at + 5;
  }
  at[0] = static_cast<char>(0xD3);
  store_big(at + 1, bits);
  return at + 9;
}

inline char* put_bin_head(char* at, std::size_t size) noexcept {
  if (size <= 0xFF) {
    at[0] = static_cast<char>(0xC4);
    at[1] = static_cast<char>(size);
    return at + 2;
  }
  if (size <= 0xFFFF) {
    at[0] = static_cast<char>(0xC5);
    store_big(at + 1, static_cast<std::uint16_t>(size));
    return at + 3;
  }
  at[0] = static_cast<char>(0xC6);
  store_big(at + 1, static_cast<std::uint32_t>(size));
  return at + 5;
}

inline char* put_array_head(char* at, std::size_t count) noexcept {
  if (count < 16) {
    *at = static_cast<char>(0x90 | count);
    return at + 1;
  }
  if (count <= 0xFFFF) {
    at[0] = static_cast<char>(0xDC);
    store_big(at + 1, static_cast<std::uint16_t>(count));
    return at + 3;
  }
  at[0] = static_cast<char>(0xDD);
  store_big(at + 1, static_cast<std::uint32_t>(count));
  return at + 5;
}

/// Bytes in a row whose memory is kept from one chunk to the next. Unlike std::string it hands out room to write to.
class ByteBuffer {
 public:
  std::size_t size() const noexcept { return size_; }
  std::string_view view() const noexcept { return {data_.get(), size_}; }

  /// Room for `bytes` more at the end; written() says up to where it was used.
  char* room(std::size_t bytes) {
    if (capacity_ - size_ < bytes) [[unlikely]]
      grow(bytes);
    return data_.get() + size_;
  }
  void written(const char* end) noexcept { size_ = static_cast<std::size_t>(end - data_.get()); }

  void append(std::string_view bytes) {
    if (bytes.empty()) return;
    char* at = room(bytes.size());
    std::memcpy(at, bytes.data(), bytes.size());
    size_ += bytes.size();
  }
  /// Forgets the bytes, and the memory too where it is more than `keep`.
  void clear(std::size_t keep = SIZE_MAX) noexcept {
    size_ = 0;
    if (capacity_ <= keep) return;
    data_.reset();
    capacity_ = 0;
  }

 private:
  void grow(std::size_t bytes) {
    std::size_t capacity = capacity_ < 1024 ? 1024 : capacity_ * 2;
    if (capacity < size_ + bytes) capacity = size_ + bytes;
    std::unique_ptr<char[]> data{new char[capacity]};
    if (size_ > 0) std::memcpy(data.get(), data_.get(), size_);
    data_ = std::move(data);
    capacity_ = capacity;
  }

  std::unique_ptr<char[]> data_;
  std::size_t size_{0};
  std::size_t capacity_{0};
};

}  // namespace pepe
