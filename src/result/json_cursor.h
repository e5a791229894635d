#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#ifdef __SSE2__
#include <emmintrin.h>

#include <bit>
#endif

namespace pepe {

/// Reads the pieces of a line of JSON one after the other. A method that returns false found another thing than it
/// takes, and where the cursor stands is then undefined.
class JsonCursor {
 public:
  /// Strings that have escapes are put together in `unescaped`, which is emptied; the others are views of `text`.
  JsonCursor(std::string_view text, std::string& unescaped)
      : at_{text.data()}, end_{text.data() + text.size()}, unescaped_{unescaped} {
    unescaped_.clear();
  }

  std::string_view rest() const { return {at_, left()}; }

  /// These very bytes.
  template <std::size_t N>
  bool take(const char (&bytes)[N]) {
    constexpr std::size_t kLength = N - 1;
    if (left() < kLength || std::memcmp(at_, bytes, kLength) != 0) return false;
    at_ += kLength;
    return true;
  }

  /// A number without sign, fraction or exponent, of at most 19 digits: longer ones may be beyond 64 bits.
  bool take_natural(std::uint64_t& out) {
    const char* const start = at_;
    std::uint64_t value = 0;
    for (; at_ != end_ && *at_ >= '0' && *at_ <= '9'; ++at_)
      value = value * 10 + static_cast<std::uint64_t>(*at_ - '0');
    out = value;
    const auto digits = at_ - start;
    return digits == 1 || (digits > 1 && digits < 20 && *start != '0');
  }

  /// What is left of a string and its closing quote; the opening one is taken.
  bool take_text(std::string_view& out) {
    const char* const start = at_;
    at_ = find_special(at_, end_);
    if (at_ == end_) return false;
    if (*at_ != '"') return *at_ == '\\' && take_escaped(start, out);
    out = {start, static_cast<std::size_t>(at_ - start)};
    ++at_;
    return true;
  }

 private:
  std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }

  // A quote, a backslash or a control character: what is no plain part of a string.
  static bool is_special(char c) { return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20; }

  static const char* find_special(const char* at, const char* end) {
#ifdef __SSE2__
    for (; end - at >= 16; at += 16) {
      const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
      const __m128i marks =
          _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
      const __m128i controls = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes);
      const auto found = static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(marks, controls)));
      if (found != 0) return at + std::countr_zero(found);
    }
#endif
    while (at != end && !is_special(*at)) ++at;
    return at;
  }

  /// The string that began at `start` and has its first escape here.
  bool take_escaped(const char* start, std::string_view& out);
  bool take_escape();
  bool take_code_point();

  const char* at_;
  const char* end_;
  std::string& unescaped_;
};

}  // namespace pepe
