#include "pepe/base/text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <span>

#include <fmt/format.h>

#include "pepe/base/utf8.h"

namespace pepe {
namespace {

struct Range {
  std::uint32_t first;
  std::uint32_t last;
};

// Controls, blanks other than ' ', marks that turn or hide text, private use and what is no character at all.
constexpr Range kInvisible[] = {
    {0x7F, 0xA0},     {0xAD, 0xAD},     {0x61C, 0x61C},   {0x1680, 0x1680},    {0x180E, 0x180E},
    {0x2000, 0x200F}, {0x2028, 0x202F}, {0x205F, 0x206F}, {0x3000, 0x3000},    {0xE000, 0xF8FF},
    {0xFEFF, 0xFEFF}, {0xFFF0, 0xFFFB}, {0xFFFE, 0xFFFF}, {0xE0000, 0x10FFFF},
};

constexpr Range kTerminalDriving[] = {{0, 0x1F},        {0x7F, 0x9F},     {0x61C, 0x61C},
                                      {0x200E, 0x200F}, {0x2028, 0x202E}, {0x2066, 0x2069}};

bool within(std::span<const Range> ranges, std::uint32_t value) noexcept {
  return std::any_of(ranges.begin(), ranges.end(),
                     [value](const Range& range) { return value >= range.first && value <= range.last; });
}

void append_escaped(std::uint32_t value, std::string& out) {
  switch (value) {
    case '\a': out += "\\a"; return;
    case '\b': out += "\\b"; return;
    case '\f': out += "\\f"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    case '\v': out += "\\v"; return;
    default: break;
  }
  const char* form = value < 0x80 ? "\\x{:02x}" : value < 0x10000 ? "\\u{:04x}" : "\\U{:08x}";
  out += fmt::format(fmt::runtime(form), value);
}

/// Appends `text` with the characters of `marked` behind a backslash and what is invisible escaped.
void append_visible(std::string_view text, std::string_view marked, std::string& out) {
  while (!text.empty()) {
    const CodePoint point = decode_utf8(text);
    const std::size_t length = point.bytes == 0 ? 1 : point.bytes;
    if (point.bytes == 0) {
      out += fmt::format("\\x{:02x}", static_cast<std::uint8_t>(text[0]));
    } else if (point.value < 0x20 || within(kInvisible, point.value)) {
      append_escaped(point.value, out);
    } else {
      if (length == 1 && marked.find(text[0]) != std::string_view::npos) out += '\\';
      out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
}

// White space outside ASCII: U+0085, U+00A0, U+1680, U+2000 to U+200A, U+2028, U+2029, U+202F, U+205F, U+3000.
constexpr std::string_view kWideSpaces[] = {
    "\u0085", "\u00a0", "\u1680", "\u2000", "\u2001", "\u2002", "\u2003", "\u2004", "\u2005", "\u2006",
    "\u2007", "\u2008", "\u2009", "\u200a", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000",
};

bool ascii_space(char c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool ascii(char c) noexcept { return static_cast<std::uint8_t>(c) < 0x80; }
char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// The bytes of the white space that `text` begins with; 0: it begins with none.
std::size_t space_at_start(std::string_view text) noexcept {
  if (text.empty()) return 0;
  if (ascii(text[0])) return ascii_space(text[0]) ? 1 : 0;
  for (const std::string_view space : kWideSpaces) {
    if (text.starts_with(space)) return space.size();
  }
  return 0;
}

/// The same at the end.
std::size_t space_at_end(std::string_view text) noexcept {
  if (text.empty()) return 0;
  if (ascii(text.back())) return ascii_space(text.back()) ? 1 : 0;
  for (const std::string_view space : kWideSpaces) {
    if (text.ends_with(space)) return space.size();
  }
  return 0;
}

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<std::int8_t, 256> make_sextets() {
  std::array<std::int8_t, 256> table{};
  table.fill(-1);
  for (std::size_t i = 0; i < kAlphabet.size(); ++i)
    table[static_cast<std::uint8_t>(kAlphabet[i])] = static_cast<std::int8_t>(i);
  return table;
}

constexpr std::array<std::int8_t, 256> kSextets = make_sextets();

/// Two letters for every 12 bits: half the look-ups of a table of single letters.
constexpr std::array<std::array<char, 2>, 4096> make_letter_pairs() {
  std::array<std::array<char, 2>, 4096> table{};
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = {kAlphabet[i >> 6], kAlphabet[i & 63]};
  return table;
}

constexpr auto kLetterPairs = make_letter_pairs();

bool line_break(char c) noexcept { return c == '\n' || c == '\r'; }

Error bad_base64(std::size_t offset) { return Error{fmt::format("illegal base64 data at input byte {}", offset)}; }

// Where the authority of `url` begins, also where a slash or the colon of the scheme is missing or one slash too many
// is there.
std::size_t authority_begin(std::string_view url) {
  const std::size_t slash = url.find('/');
  if (slash == std::string_view::npos) return 0;
  std::string_view scheme = url.substr(0, slash);
  if (scheme.ends_with(':')) scheme.remove_suffix(1);
  const bool known = scheme.empty() || scheme == "http" || scheme == "https";
  if (!known && (scheme.find(':') != std::string_view::npos || !url.substr(slash - 1).starts_with("://"))) return 0;
  return std::min(url.find_first_not_of('/', slash), url.size());
}

}  // namespace

std::string quote(std::string_view text) {
  std::string out = "\"";
  append_visible(text, "\"\\", out);
  out += '"';
  return out;
}

std::string printable(std::string_view text, std::size_t most) {
  std::string out;
  append_visible(text.substr(0, most), "", out);
  if (text.size() > most) out += "...";
  return out;
}

bool drives_terminal(std::uint32_t character) noexcept { return within(kTerminalDriving, character); }

void append_terminal_safe(std::string_view text, std::string& out) {
  while (!text.empty()) {
    const CodePoint point = decode_utf8(text);
    const std::size_t bytes = std::max<std::size_t>(1, point.bytes);
    const std::uint32_t value = point.bytes == 0 ? static_cast<std::uint8_t>(text.front()) : point.value;
    const bool layout = value == '\t' || value == '\n';
    if (!layout && (point.bytes == 0 || drives_terminal(value))) {
      fmt::format_to(std::back_inserter(out), fmt::runtime(value < 0x100 ? "\\x{:02x}" : "\\u{:04x}"), value);
    } else {
      out += text.substr(0, bytes);
    }
    text.remove_prefix(bytes);
  }
}

std::string without_credentials(std::string_view url) {
  const std::size_t begin = authority_begin(url);
  const std::string_view rest = url.substr(begin);
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
  std::size_t at = authority.rfind('@');
  if (at == std::string_view::npos) {
    // Behind the host there may be a port and nothing else; otherwise that was a user, and what follows his password.
    const std::size_t host_end = authority.starts_with('[') ? authority.find(']') : 0;
    const std::size_t colon = authority.find(':', host_end);
    if (colon != std::string_view::npos &&
        authority.find_first_not_of("0123456789", colon + 1) != std::string_view::npos)
      at = rest.rfind('@');
  }
  std::string out{url};
  if (at != std::string_view::npos) out.replace(begin, at, kHidden);
  return out;
}

std::string without_value(std::string_view line) {
  const std::size_t end = std::min(line.find_first_of(":= "), line.size());
  std::string_view rest = line.substr(end);
  if (rest.starts_with("://")) return without_credentials(line);
  if (!rest.starts_with(':')) return std::string{line.substr(0, end)};
  // HOST:PORT/PATH is no header.
  const std::size_t port_end = rest.find_first_not_of("0123456789", 1);
  if (port_end != std::string_view::npos && port_end > 1 && rest[port_end] == '/') return without_credentials(line);
  return std::string{line.substr(0, end + 1)};
}

std::string_view trim(std::string_view text) noexcept {
  std::size_t length = 0;
  while ((length = space_at_start(text)) > 0) text.remove_prefix(length);
  while ((length = space_at_end(text)) > 0) text.remove_suffix(length);
  return text;
}

std::string lower_case(std::string_view text) {
  std::string out{text};
  std::transform(out.begin(), out.end(), out.begin(), lower);
  return out;
}

bool equals_ignoring_case(std::string_view a, std::string_view b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

// Exact: both sides of the division are integers that a double holds (std::from_chars for doubles brings libm along).
std::optional<double> parse_decimal(std::string_view text) {
  constexpr int kMaxDigits = 15;
  double digits = 0;
  double scale = 1;
  int count = 0;
  bool any = false;
  bool in_fraction = false;
  for (const char c : text) {
    if (c == '.' && !in_fraction) {
      in_fraction = true;
      continue;
    }
    if (c < '0' || c > '9') return std::nullopt;
    any = true;
    const bool leading_zero = c == '0' && count == 0 && !in_fraction;
    if (!leading_zero && ++count > kMaxDigits) return std::nullopt;
    digits = digits * 10 + (c - '0');
    if (in_fraction) scale *= 10;
  }
  if (!any) return std::nullopt;
  return digits / scale;
}

void append_base64(std::string_view bytes, std::string& out) {
  const auto byte = [bytes](std::size_t i) { return static_cast<std::uint32_t>(static_cast<std::uint8_t>(bytes[i])); };
  const std::size_t start = out.size();
  out.resize(start + (bytes.size() + 2) / 3 * 4, '=');
  char* to = out.data() + start;
  const auto put = [&to](std::uint32_t twelve_bits) {
    std::memcpy(to, kLetterPairs[twelve_bits].data(), 2);
    to += 2;
  };
  std::size_t i = 0;
  for (; i + 3 <= bytes.size(); i += 3) {
    const std::uint32_t group = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    put(group >> 12);
    put(group & 0xFFF);
  }
  const std::size_t rest = bytes.size() - i;
  if (rest == 0) return;
  const std::uint32_t group = byte(i) << 16 | (rest == 2 ? byte(i + 1) << 8 : 0);
  put(group >> 12);
  if (rest == 2) *to = kAlphabet[group >> 6 & 63];
}

Expected<std::string> decode_base64(std::string_view text) {
  std::string out;
  out.reserve(text.size() / 4 * 3);
  std::uint32_t group = 0;
  int sextets = 0;
  std::size_t i = 0;
  for (; i < text.size(); ++i) {
    if (line_break(text[i])) continue;
    const std::int8_t sextet = kSextets[static_cast<std::uint8_t>(text[i])];
    if (sextet < 0) break;
    group = group << 6 | static_cast<std::uint32_t>(sextet);
    if (++sextets < 4) continue;
    out += {static_cast<char>(group >> 16), static_cast<char>(group >> 8), static_cast<char>(group)};
    group = 0;
    sextets = 0;
  }
  if (i == text.size()) return sextets == 0 ? Expected<std::string>{std::move(out)} : bad_base64(i);

  // What stopped the loop must be the padding, and nothing but line breaks may follow it.
  if (text[i] != '=' || sextets < 2) return bad_base64(i);
  int padding = 0;
  for (; i < text.size(); ++i) {
    if (line_break(text[i])) continue;
    if (text[i] != '=' || ++padding > 4 - sextets) return bad_base64(i);
  }
  if (padding != 4 - sextets) return bad_base64(i);
  out += static_cast<char>(group >> (sextets == 3 ? 10 : 4));
  if (sextets == 3) out += static_cast<char>(group >> 2);
  return out;
}

}  // namespace pepe
