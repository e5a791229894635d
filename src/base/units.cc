#include "pepe/base/units.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "pepe/base/text.h"

namespace pepe {
namespace {

bool all_digits(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// The part of -rate after the slash: a duration, or a bare unit that means one of it.
Expected<Nanos> parse_per(std::string_view text) {
  constexpr std::string_view kUnits[] = {"ns", "us", "\u00b5s", "\u03bcs", "ms", "s", "m", "h"};
  const bool bare = std::find(std::begin(kUnits), std::end(kUnits), text) != std::end(kUnits);
  return parse_duration(bare ? "1" + std::string{text} : std::string{text});
}

/// For a rate such as "1.5" or "0.5/m": the same rate in whole hits ("3/2s", "1/2m0s"). nullopt: `hits` is no such
/// number.
std::optional<std::string> whole_rate(std::string_view hits, Nanos per) {
  constexpr std::size_t kMostDigits = 9;
  const std::size_t point = hits.find('.');
  if (point == std::string_view::npos) return std::nullopt;
  const std::string_view decimals = hits.substr(point + 1);
  const std::string digits = std::string{hits.substr(0, point)} + std::string{decimals};
  if (decimals.empty() || digits.size() > kMostDigits || !all_digits(digits) || per.count() <= 0) return std::nullopt;

  std::int64_t numerator = 0;
  for (const char c : digits) numerator = numerator * 10 + (c - '0');
  std::int64_t denominator = 1;
  for (std::size_t i = 0; i < decimals.size(); ++i) denominator *= 10;
  const std::int64_t common = std::gcd(numerator, denominator);
  if (numerator == 0 || per.count() > std::numeric_limits<std::int64_t>::max() / denominator) return std::nullopt;
  return fmt::format("{}/{}", numerator / common, format_duration(per * (denominator / common)));
}

Error bad_hits(std::string_view hits, std::string_view per_text) {
  const Expected<Nanos> per = parse_per(per_text);
  if (per) {
    if (const auto whole = whole_rate(hits, *per)) {
      return Error{fmt::format("{} is not a whole number of hits: write {}", quote(hits), *whole)};
    }
  }
  return Error{
      fmt::format("{} is not a whole number of hits: want HITS[/DURATION], such as 500, 240/m or 1/2s", quote(hits))};
}

}  // namespace

Expected<Rate> parse_rate(std::string_view text) {
  constexpr Nanos kSecond = std::chrono::seconds{1};
  if (text == "infinity") return Rate{0, kSecond};
  const std::size_t slash = text.find('/');
  const bool has_per = slash != std::string_view::npos;
  const std::string_view hits_text = text.substr(0, slash);
  const std::string_view per_text = has_per ? text.substr(slash + 1) : "1s";

  // from_chars takes a minus sign but no plus sign.
  std::string_view digits = hits_text;
  if (digits.size() > 1 && digits[0] == '+' && digits[1] != '-') digits.remove_prefix(1);
  std::int64_t hits = 0;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), hits);
  if (fault == std::errc::result_out_of_range) return Error{quote(hits_text) + " hits are out of range"};
  if (fault != std::errc{} || end != digits.data() + digits.size()) return bad_hits(hits_text, per_text);
  if (hits == 0) return Rate{0, kSecond};

  const Expected<Nanos> per = parse_per(per_text);
  if (!per) return Error{per.error().text() + ": want HITS/DURATION, such as 500/1s, 3/250ms or 240/m"};
  return Rate{hits, *per};
}

std::string format_rate(Rate rate) { return fmt::format("{}/{}", rate.hits, format_duration(rate.per)); }

namespace {

struct SizeUnit {
  std::string_view name;
  unsigned shift;
};

constexpr SizeUnit kSizeUnits[] = {
    {"", 0},           {"b", 0},          {"byte", 0},      {"k", 10},         {"kb", 10},        {"kilo", 10},
    {"kilobyte", 10},  {"kilobytes", 10}, {"m", 20},        {"mb", 20},        {"mega", 20},      {"megabyte", 20},
    {"megabytes", 20}, {"g", 30},         {"gb", 30},       {"giga", 30},      {"gigabyte", 30},  {"gigabytes", 30},
    {"t", 40},         {"tb", 40},        {"tera", 40},     {"terabyte", 40},  {"terabytes", 40}, {"p", 50},
    {"pb", 50},        {"peta", 50},      {"petabyte", 50}, {"petabytes", 50}, {"e", 60},         {"eb", 60},
};

std::optional<unsigned> size_shift(std::string_view unit) {
  for (const SizeUnit& row : kSizeUnits) {
    if (equals_ignoring_case(row.name, unit)) return row.shift;
  }
  return std::nullopt;
}

}  // namespace

Expected<std::int64_t> parse_size(std::string_view text) {
  if (text == "-1") return std::int64_t{-1};
  if (text.empty()) return std::int64_t{0};
  std::size_t length = 0;
  while (length < text.size() && text[length] >= '0' && text[length] <= '9') ++length;
  const std::string_view unit = trim(text.substr(length));

  std::uint64_t number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + length, number);
  const std::optional<unsigned> shift = size_shift(unit);
  if (length == 0 || !shift) {
    return Error{quote(text) +
                 " is not a size: want a whole number and a unit (b, kb, mb, gb, tb, pb, eb), or -1 for no limit"};
  }
  if (unit.size() == 2 && unit[0] >= 'A' && unit[0] <= 'Z' && unit[1] == 'b') {
    return Error{
        fmt::format("{} would be bits: want bytes, such as {}B", quote(text), text.substr(0, text.rfind('b')))};
  }
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (fault != std::errc{} || number > kMost >> *shift)
    return Error{quote(text) + " is out of range: at most 2^63 - 1 bytes"};
  return static_cast<std::int64_t>(number << *shift);
}

}  // namespace pepe
