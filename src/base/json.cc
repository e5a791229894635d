#include "pepe/base/json.h"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "pepe/base/utf8.h"

namespace pepe {
namespace {

void append_json_ascii(char c, std::string& out) {
  switch (c) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: break;
  }
  const bool plain = c >= 0x20 && c != '<' && c != '>' && c != '&';
  if (plain) {
    out += c;
  } else {
    fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
  }
}

// "d.ddde-07" to digits and the power of ten of the first one.
struct Decimal {
  std::string digits;
  int exponent;
};

Decimal shortest_decimal(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific).ptr;
  const std::string_view all{text, static_cast<std::size_t>(end - text)};
  const std::size_t e = all.find('e');
  Decimal out{std::string{all.substr(0, 1)}, 0};
  if (e > 2) out.digits += all.substr(2, e - 2);
  const std::size_t first = e + (all[e + 1] == '+' ? 2 : 1);
  std::from_chars(text + first, end, out.exponent);
  return out;
}

}  // namespace

void append_json_string(std::string_view text, std::string& out) {
  out += '"';
  while (!text.empty()) {
    const CodePoint point = decode_utf8(text);
    if (point.bytes == 1) {
      append_json_ascii(text.front(), out);
    } else if (point.bytes == 0) {
      out += "\\ufffd";
    } else if (point.value == 0x2028 || point.value == 0x2029) {
      out += point.value == 0x2028 ? "\\u2028" : "\\u2029";
    } else {
      out += text.substr(0, point.bytes);
    }
    text.remove_prefix(point.bytes == 0 ? 1 : point.bytes);
  }
  out += '"';
}

void append_json_number(double value, std::string& out) {
  if (!std::isfinite(value) || value == 0) {
    out += '0';
    return;
  }
  if (value < 0) out += '-';
  const double size = std::fabs(value);
  const auto [digits, exponent] = shortest_decimal(size);
  const auto count = static_cast<int>(digits.size());
  if (size < 1e-6 || size >= 1e21) {
    out += digits.front();
    if (count > 1) out.append(1, '.').append(digits, 1);
    fmt::format_to(std::back_inserter(out), "e{:+d}", exponent);
  } else if (exponent < 0) {
    out.append("0.").append(static_cast<std::size_t>(-exponent - 1), '0').append(digits);
  } else if (count <= exponent + 1) {
    out.append(digits).append(static_cast<std::size_t>(exponent + 1 - count), '0');
  } else {
    const auto whole = static_cast<std::size_t>(exponent) + 1;
    out.append(digits, 0, whole).append(1, '.').append(digits, whole);
  }
}

}  // namespace pepe
