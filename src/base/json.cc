#include "pepe/base/json.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "pepe/base/text.h"
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

// The shortest digits that give the value back, without zeros at the ends, and the power of ten of the first one.
struct Decimal {
  std::string digits;
  int exponent;
};

// REQUIRES: value > 0.
Decimal shortest_decimal(double value) {
  const std::string text = fmt::format("{}", value);  // "0.00125", "1250", "1.25e+22"
  const std::string_view mantissa = std::string_view{text}.substr(0, text.find('e'));
  Decimal out{{}, 0};
  if (mantissa.size() < text.size()) {
    const char* const exponent = text.data() + mantissa.size() + (text[mantissa.size() + 1] == '+' ? 2 : 1);
    std::from_chars(exponent, text.data() + text.size(), out.exponent);
  }
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  const std::size_t first = mantissa.find_first_not_of("0.");
  out.exponent += static_cast<int>(point) - static_cast<int>(first) - (first < point ? 1 : 0);
  out.digits = mantissa.substr(first);
  if (first < point && point < mantissa.size()) out.digits.erase(point - first, 1);
  out.digits.erase(out.digits.find_last_not_of('0') + 1);
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
    } else if (drives_terminal(point.value)) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", point.value);
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
