#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace pepe {

// The building blocks of gob (docs/result-format.md): unsigned and signed numbers of variable length, and
// counted bytes.

inline void append_gob_uint(std::uint64_t value, std::string& out) {
  if (value < 128) {
    out += static_cast<char>(value);
    return;
  }
  const int bytes = (71 - __builtin_clzll(value)) / 8;
  out += static_cast<char>(-bytes);
  for (int i = bytes - 1; i >= 0; --i) out += static_cast<char>(value >> (8 * i));
}

inline void append_gob_int(std::int64_t value, std::string& out) {
  const auto bits = static_cast<std::uint64_t>(value);
  append_gob_uint(value < 0 ? (~bits << 1) | 1 : bits << 1, out);
}

inline void append_gob_bytes(std::string_view bytes, std::string& out) {
  append_gob_uint(bytes.size(), out);
  out += bytes;
}

/// Reads the building blocks off the front of some bytes. The first thing that cannot be read makes it fail
/// for good: every later read gives zeros, so callers may look at failed() once, when they are through.
class GobCursor {
 public:
  explicit GobCursor(std::string_view bytes) : start_{bytes.data()}, at_{start_}, end_{start_ + bytes.size()} {}

  std::uint64_t take_uint() {
    if (at_ == end_) return run_out();
    const auto first = static_cast<unsigned char>(*at_++);
    if (first < 128) return first;
    const int bytes = 256 - first;
    if (bytes > 8) return fail("a number of over 8 bytes"), 0;
    if (end_ - at_ < bytes) return run_out();
    std::uint64_t value = 0;
    for (int i = 0; i < bytes; ++i) value = value << 8 | static_cast<unsigned char>(*at_++);
    return value;
  }

  std::int64_t take_int() {
    const std::uint64_t bits = take_uint();
    return static_cast<std::int64_t>(bits & 1 ? ~(bits >> 1) : bits >> 1);
  }

  std::string_view take_bytes() {
    const std::uint64_t length = take_uint();
    if (length > left()) return run_out(), std::string_view{};
    const std::string_view bytes{at_, static_cast<std::size_t>(length)};
    at_ += length;
    return bytes;
  }

  /// The number of elements that follow; each takes a byte at least, so that more than there are bytes is
  /// refused.
  std::uint64_t take_count() {
    const std::uint64_t count = take_uint();
    return count > left() ? run_out() : count;
  }

  /// The number of the next field of a struct whose last one was `field` (-1 at first); a negative one at its
  /// end.
  std::int64_t take_field(std::int64_t field) {
    constexpr std::uint64_t kMaxDelta = 1U << 16;
    const std::uint64_t delta = take_uint();
    if (delta > kMaxDelta) fail("a field number out of range");
    return delta == 0 || failed() ? -1 : field + static_cast<std::int64_t>(delta);
  }

  /// `why` must live on: a literal. The first reason stays.
  void fail(const char* why) {
    if (why_ == nullptr) why_ = why;
    at_ = end_;
  }

  std::size_t left() const noexcept { return static_cast<std::size_t>(end_ - at_); }
  std::size_t used() const noexcept { return static_cast<std::size_t>(at_ - start_); }
  bool failed() const noexcept { return why_ != nullptr; }
  /// It failed for want of bytes.
  bool ran_out() const noexcept { return ran_out_; }
  const char* why() const noexcept { return why_; }

 private:
  std::uint64_t run_out() {
    if (!failed()) ran_out_ = true;
    fail("a value reaches beyond its record");
    return 0;
  }

  const char* start_;
  const char* at_;
  const char* end_;
  const char* why_{nullptr};
  bool ran_out_{false};
};

}  // namespace pepe
