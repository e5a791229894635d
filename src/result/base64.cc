// HOT: once or twice per result read.
#include "result/base64.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include "pepe/base/text.h"

namespace pepe {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// Above every value that four letters can make together, so that one test of their union finds a bad one.
constexpr std::uint32_t kBad = 1U << 24;

// The value of a letter, moved to its place among four; kBad for what is no letter.
using LetterValues = std::array<std::array<std::uint32_t, 256>, 4>;

constexpr LetterValues make_values() {
  LetterValues values{};
  for (std::size_t place = 0; place < 4; ++place) {
    for (auto& value : values[place]) value = kBad;
    for (std::size_t i = 0; i < kAlphabet.size(); ++i) {
      values[place][static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::uint32_t>(i << (18 - 6 * place));
    }
  }
  return values;
}

constexpr auto kValues = make_values();

// The 24 bits of the four letters at `text`, of which the last `padding` are not looked at.
std::uint32_t four_letters(const char* text, std::size_t padding = 0) {
  const auto value = [text](std::size_t i) { return kValues[i][static_cast<unsigned char>(text[i])]; };
  return value(0) | value(1) | (padding < 2 ? value(2) : 0) | (padding < 1 ? value(3) : 0);
}

// `text` is whole fours, of which only the last may be padded: so almost all base64 is. Other forms (line
// breaks, say) and errors are left to decode_base64().
struct Regular {
  explicit Regular(std::string_view text) : fits{text.size() % 4 == 0} {
    if (!fits || text.empty()) return;
    if (text.back() == '=') padding = text[text.size() - 2] == '=' ? 2 : 1;
    whole = text.size() - (padding == 0 ? 0 : 4);
  }
  bool fits;
  std::size_t padding{0};
  std::size_t whole{0};  // Letters in front of the padded four.
};

bool decode_regular(std::string_view text, std::string& out) {
  const Regular form{text};
  if (!form.fits) return false;
  const std::size_t start = out.size();
  out.resize(start + text.size() / 4 * 3 - form.padding);
  char* to = out.data() + start;
  std::uint32_t seen = 0;
  for (std::size_t i = 0; i < form.whole; i += 4) {
    const std::uint32_t value = four_letters(text.data() + i);
    seen |= value;
    *to++ = static_cast<char>(value >> 16);
    *to++ = static_cast<char>(value >> 8);
    *to++ = static_cast<char>(value);
  }
  if (form.padding != 0) {
    const std::uint32_t value = four_letters(text.data() + form.whole, form.padding);
    seen |= value;
    *to++ = static_cast<char>(value >> 16);
    if (form.padding == 1) *to++ = static_cast<char>(value >> 8);
  }
  if (seen < kBad) return true;
  out.resize(start);
  return false;
}

// Comparisons in the place of the table, and nothing but bytes: a compiler then takes sixteen letters at once.
bool all_letters(std::string_view text) {
  unsigned char bad = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const unsigned char no_letter = static_cast<unsigned char>((byte | 0x20) - 'a') < 26 ? 0 : 1;
    const unsigned char no_digit = static_cast<unsigned char>(byte - '/') < 11 ? 0 : 1;  // '/' stands before '0'.
    const unsigned char no_plus = byte == '+' ? 0 : 1;
    bad |= static_cast<unsigned char>(no_letter & no_digit & no_plus);
  }
  return bad == 0;
}

bool check_regular(std::string_view text) {
  const Regular form{text};
  if (!form.fits || !all_letters(text.substr(0, form.whole))) return false;
  return form.padding == 0 || four_letters(text.data() + form.whole, form.padding) < kBad;
}

}  // namespace

Expected<void> append_from_base64(std::string_view text, std::string& out) {
  if (decode_regular(text, out)) return {};
  const Expected<std::string> bytes = decode_base64(text);
  if (!bytes) return bytes.error();
  out += *bytes;
  return {};
}

Expected<void> check_base64(std::string_view text) {
  if (check_regular(text)) return {};
  const Expected<std::string> bytes = decode_base64(text);
  if (!bytes) return bytes.error();
  return {};
}

}  // namespace pepe
