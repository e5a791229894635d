#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <optional>

#include <fmt/format.h>

#include "pepe/base/text.h"
#include "pepe/base/time.h"

namespace pepe {
namespace {

constexpr std::int64_t kNanosPerSecond = 1'000'000'000;
constexpr std::int64_t kSecondsPerDay = 86'400;

std::int64_t floor_divide(std::int64_t value, std::int64_t by) noexcept {
  return value / by - (value % by < 0 ? 1 : 0);
}

/// Takes exactly `digits` decimal digits off the front of `text`.
std::optional<std::int64_t> take_number(std::string_view& text, std::size_t digits) noexcept {
  if (text.size() < digits) return std::nullopt;
  std::int64_t value = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    if (text[i] < '0' || text[i] > '9') return std::nullopt;
    value = value * 10 + (text[i] - '0');
  }
  text.remove_prefix(digits);
  return value;
}

bool take(std::string_view& text, char c) noexcept {
  if (text.empty() || text[0] != c) return false;
  text.remove_prefix(1);
  return true;
}

/// Takes "YYYY-MM-DD" off the front of `text`: days since 1970.
std::optional<std::int64_t> take_days(std::string_view& text) noexcept {
  const auto year = take_number(text, 4);
  if (!year || !take(text, '-')) return std::nullopt;
  const auto month = take_number(text, 2);
  if (!month || !take(text, '-')) return std::nullopt;
  const auto day = take_number(text, 2);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year{static_cast<int>(*year)},
                                         std::chrono::month{static_cast<unsigned>(*month)},
                                         std::chrono::day{static_cast<unsigned>(*day)}};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days{date}.time_since_epoch().count();
}

/// Takes "HH:MM" off the front of `text`: minutes, less than a day.
std::optional<std::int64_t> take_minutes(std::string_view& text) noexcept {
  const auto hour = take_number(text, 2);
  if (!hour || *hour > 23 || !take(text, ':')) return std::nullopt;
  const auto minute = take_number(text, 2);
  if (!minute || *minute > 59) return std::nullopt;
  return *hour * 60 + *minute;
}

/// Takes the decimals after the seconds off the front of `text`, if there are any: nanoseconds.
std::optional<std::int64_t> take_decimals(std::string_view& text) noexcept {
  if (!take(text, '.')) return 0;
  std::int64_t nanos = 0;
  std::int64_t weight = kNanosPerSecond;
  bool digits = false;
  for (; !text.empty() && text[0] >= '0' && text[0] <= '9'; text.remove_prefix(1)) {
    digits = true;
    weight /= 10;
    nanos += weight * (text[0] - '0');
  }
  return digits ? std::optional{nanos} : std::nullopt;
}

/// Takes "Z" or "+HH:MM" off the front of `text`: minutes east of UTC.
std::optional<std::int64_t> take_zone(std::string_view& text) noexcept {
  if (take(text, 'Z')) return 0;
  const bool west = take(text, '-');
  if (!west && !take(text, '+')) return std::nullopt;
  const auto minutes = take_minutes(text);
  if (!minutes) return std::nullopt;
  return west ? -*minutes : *minutes;
}

}  // namespace

std::int16_t local_zone_minutes(std::int64_t unix_nanos) {
  static const bool zone_read = [] { return tzset(), true; }();
  static_cast<void>(zone_read);
  const std::time_t seconds = floor_divide(unix_nanos, kNanosPerSecond);
  std::tm local{};
  if (localtime_r(&seconds, &local) == nullptr) return 0;
  return static_cast<std::int16_t>(local.tm_gmtoff / 60);
}

void append_rfc3339(Timestamp time, std::string& out) {
  if (time.unix_nanos == kZeroTime) {
    out += "0001-01-01T00:00:00Z";
    return;
  }
  const std::int64_t seconds = floor_divide(time.unix_nanos, kNanosPerSecond);
  const std::int64_t nanos = (time.unix_nanos % kNanosPerSecond + kNanosPerSecond) % kNanosPerSecond;
  const std::int64_t local = seconds + std::int64_t{time.zone_minutes} * 60;
  const std::int64_t days = floor_divide(local, kSecondsPerDay);
  const std::int64_t second = local - days * kSecondsPerDay;
  const std::chrono::year_month_day date{std::chrono::sys_days{std::chrono::days{days}}};

  auto to = std::back_inserter(out);
  fmt::format_to(to, "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(date.year()),
                 static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), second / 3600,
                 second / 60 % 60, second % 60);
  if (nanos != 0) {
    fmt::format_to(to, ".{:09}", nanos);
    out.erase(out.find_last_not_of('0') + 1);
  }
  if (time.zone_minutes == 0) {
    out += 'Z';
    return;
  }
  const int zone = std::abs(int{time.zone_minutes});
  fmt::format_to(to, "{}{:02}:{:02}", time.zone_minutes < 0 ? '-' : '+', zone / 60, zone % 60);
}

Expected<Timestamp> parse_rfc3339(std::string_view text) {
  const auto bad = [text] {
    return Error{"bad time " + quote(text) +
                 ": want RFC 3339, such as 2006-01-02T15:04:05.999Z, between 1678 and 2262"};
  };
  std::string_view rest = text;
  const auto days = take_days(rest);
  if (!days || !take(rest, 'T')) return bad();
  const auto minutes = take_minutes(rest);
  if (!minutes || !take(rest, ':')) return bad();
  const auto second = take_number(rest, 2);
  if (!second || *second > 59) return bad();
  const auto nanos = take_decimals(rest);
  if (!nanos) return bad();
  const auto zone = take_zone(rest);
  if (!zone || !rest.empty()) return bad();

  const std::int64_t seconds = *days * kSecondsPerDay + (*minutes - *zone) * 60 + *second;
  constexpr std::int64_t kYearOne = -62'135'596'800;
  if (seconds == kYearOne && *nanos == 0) return Timestamp{kZeroTime, 0};
  std::int64_t unix_nanos = 0;
  // For a negative time near the limit, whole seconds alone are out of range while their sum with the decimals is not.
  const bool negative = seconds < 0 && *nanos > 0;
  const std::int64_t whole = negative ? seconds + 1 : seconds;
  const std::int64_t part = negative ? *nanos - kNanosPerSecond : *nanos;
  if (__builtin_mul_overflow(whole, kNanosPerSecond, &unix_nanos) ||
      __builtin_add_overflow(unix_nanos, part, &unix_nanos))
    return bad();
  return Timestamp{unix_nanos, static_cast<std::int16_t>(*zone)};
}

}  // namespace pepe
