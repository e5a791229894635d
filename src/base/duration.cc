#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "pepe/base/text.h"
#include "pepe/base/time.h"

namespace pepe {
namespace {

constexpr std::int64_t kNanosecond = 1;
constexpr std::int64_t kMicrosecond = 1'000;
constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kMinute = 60 * kSecond;
constexpr std::int64_t kHour = 60 * kMinute;

// The magnitude of the smallest duration, one more than that of the largest.
constexpr std::uint64_t kLimit = std::uint64_t{1} << 63;

struct Unit {
  std::string_view name;
  std::int64_t nanos;
};

constexpr Unit kUnits[] = {
    {"ns", kNanosecond},
    {"us", kMicrosecond},
    {"\u00b5s", kMicrosecond},  // micro sign
    {"\u03bcs", kMicrosecond},  // Greek mu
    {"ms", kMillisecond},
    {"s", kSecond},
    {"m", kMinute},
    {"h", kHour},
};

std::optional<std::uint64_t> unit_nanos(std::string_view name) noexcept {
  for (const Unit& unit : kUnits) {
    if (unit.name == name) return static_cast<std::uint64_t>(unit.nanos);
  }
  return std::nullopt;
}

bool digit(char c) noexcept { return c >= '0' && c <= '9'; }

/// A decimal number without sign at the start of a text: whole + fraction / scale.
struct Decimal {
  std::uint64_t whole{0};
  std::uint64_t fraction{0};
  double scale{1};
};

/// Takes the number off the front of `text`. nullopt: no digits, or the whole part is beyond 2^63.
std::optional<Decimal> take_decimal(std::string_view& text) noexcept {
  Decimal number;
  bool digits = false;
  for (; !text.empty() && digit(text[0]); text.remove_prefix(1)) {
    if (number.whole > kLimit / 10) return std::nullopt;
    number.whole = number.whole * 10 + static_cast<std::uint64_t>(text[0] - '0');
    if (number.whole > kLimit) return std::nullopt;
    digits = true;
  }
  if (text.empty() || text[0] != '.') return digits ? std::optional{number} : std::nullopt;
  text.remove_prefix(1);
  for (; !text.empty() && digit(text[0]); text.remove_prefix(1)) {
    digits = true;
    // Digits beyond what 63 bits hold are far below a nanosecond.
    if (number.fraction > (kLimit - 10) / 10) continue;
    number.fraction = number.fraction * 10 + static_cast<std::uint64_t>(text[0] - '0');
    number.scale *= 10;
  }
  return digits ? std::optional{number} : std::nullopt;
}

std::string_view take_unit_name(std::string_view& text) noexcept {
  std::size_t length = 0;
  while (length < text.size() && text[length] != '.' && !digit(text[length])) ++length;
  const std::string_view name = text.substr(0, length);
  text.remove_prefix(length);
  return name;
}

/// `number` of `unit` nanoseconds; nullopt beyond 2^63.
std::optional<std::uint64_t> multiply(const Decimal& number, std::uint64_t unit) noexcept {
  if (number.whole > kLimit / unit) return std::nullopt;
  const std::uint64_t whole = number.whole * unit;
  const std::uint64_t part =
      static_cast<std::uint64_t>(static_cast<double>(number.fraction) * (static_cast<double>(unit) / number.scale));
  return whole + part > kLimit ? std::nullopt : std::optional{whole + part};
}

Error invalid(std::string_view text) { return Error{"time: invalid duration " + quote(text)}; }

}  // namespace

Expected<Nanos> parse_duration(std::string_view text) {
  std::string_view rest = text;
  const bool negative = !rest.empty() && rest[0] == '-';
  if (!rest.empty() && (rest[0] == '-' || rest[0] == '+')) rest.remove_prefix(1);
  if (rest == "0") return Nanos{0};
  if (rest.empty()) return invalid(text);

  std::uint64_t total = 0;
  while (!rest.empty()) {
    const std::optional<Decimal> number = take_decimal(rest);
    if (!number) return invalid(text);
    const std::string_view name = take_unit_name(rest);
    if (name.empty()) return Error{"time: missing unit in duration " + quote(text)};
    const std::optional<std::uint64_t> unit = unit_nanos(name);
    if (!unit) return Error{"time: unknown unit " + quote(name) + " in duration " + quote(text)};
    const std::optional<std::uint64_t> part = multiply(*number, *unit);
    if (!part || total + *part > kLimit) return invalid(text);
    total += *part;
  }
  if (negative) return Nanos{static_cast<std::int64_t>(0 - total)};
  if (total == kLimit) return invalid(text);
  return Nanos{static_cast<std::int64_t>(total)};
}

namespace {

/// `value` / `unit` in decimals, without trailing zeros. `unit` is a power of ten, at most 10^9.
void append_fraction(std::uint64_t value, std::uint64_t unit, std::string& out) {
  fmt::format_to(std::back_inserter(out), "{}", value / unit);
  std::uint64_t part = value % unit;
  if (part == 0) return;
  out += '.';
  for (; part != 0; part %= unit) {
    unit /= 10;
    out += static_cast<char>('0' + part / unit);
  }
}

}  // namespace

std::string format_duration(Nanos duration) {
  const std::int64_t count = duration.count();
  if (count == 0) return "0s";
  std::string out = count < 0 ? "-" : "";
  // The smallest duration has no positive counterpart, hence the unsigned negation.
  const std::uint64_t value = count < 0 ? 0 - static_cast<std::uint64_t>(count) : static_cast<std::uint64_t>(count);
  if (value < kMicrosecond) return out + fmt::format("{}ns", value);
  if (value < kMillisecond) return append_fraction(value, kMicrosecond, out), out + "\u00b5s";
  if (value < kSecond) return append_fraction(value, kMillisecond, out), out + "ms";

  if (value >= kHour) out += fmt::format("{}h", value / kHour);
  if (value >= kMinute) out += fmt::format("{}m", value / kMinute % 60);
  append_fraction(value % kMinute, kSecond, out);
  return out + "s";
}

Nanos round_duration(Nanos duration) {
  constexpr std::array<std::int64_t, 6> kSteps = {kHour, kMinute, kSecond, kMillisecond, kMicrosecond, kNanosecond};
  const std::int64_t value = duration.count();
  for (std::size_t i = 0; i + 1 < kSteps.size(); ++i) {
    if (value < kSteps[i]) continue;
    const std::int64_t step = kSteps[i + 1];
    const std::int64_t below = value % step;
    if (below < step - below) return Nanos{value - below};
    if (value > std::numeric_limits<std::int64_t>::max() - (step - below)) return Nanos::max();
    return Nanos{value - below + step};
  }
  return duration;
}

}  // namespace pepe
