// HOT: once per result read or written.
#include "result/time_text.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace pepe {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kQuarter = 900 * kSecond;
constexpr std::size_t kDateLength = std::string_view{"2023-11-21T22:13:20"}.size();

// What the last of so many decimals of a second counts, in nanoseconds.
constexpr std::int64_t kUnits[] = {kSecond, 100'000'000, 10'000'000, 1'000'000, 100'000, 10'000, 1'000, 100, 10, 1};
constexpr std::size_t kDecimals = std::size(kUnits) - 1;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

void append_decimals(std::int64_t nanos, std::string& out) {
  if (nanos == 0) return;
  char digits[10] = {'.'};
  std::size_t length = 1;
  for (std::size_t i = 9; i > 0; --i, nanos /= 10) {
    digits[i] = static_cast<char>('0' + nanos % 10);
    if (length == 1 && digits[i] != '0') length = i + 1;
  }
  out.append(digits, length);
}

// Takes ".123" off the front of `text`; beyond nine the digits do not count. False: a point without digits.
bool take_decimals(std::string_view& text, std::int64_t& nanos) {
  nanos = 0;
  if (text.empty() || text[0] != '.') return true;
  std::size_t i = 1;
  for (; i < text.size() && i <= kDecimals && is_digit(text[i]); ++i) nanos = nanos * 10 + (text[i] - '0');
  nanos *= kUnits[i - 1];
  while (i < text.size() && is_digit(text[i])) ++i;
  text.remove_prefix(i);
  return i > 1;
}

}  // namespace

void TimestampWriter::append(Timestamp time, std::string& out) {
  if (time.unix_nanos == kZeroTime) {  // The one instant that is printed as another.
    append_rfc3339(time, out);
    return;
  }
  std::int64_t second = time.unix_nanos / kSecond;
  std::int64_t nanos = time.unix_nanos % kSecond;
  if (nanos < 0) {
    --second;
    nanos += kSecond;
  }
  if (second != second_ || time.zone_minutes != zone_minutes_) print_second(time, second);
  out.append(text_, 0, kDateLength);
  append_decimals(nanos, out);
  out.append(text_, kDateLength);
}

void TimestampWriter::print_second(Timestamp time, std::int64_t second) {
  second_ = second;
  zone_minutes_ = time.zone_minutes;
  text_.clear();
  append_rfc3339(time, text_);
  std::size_t end = kDateLength;  // Of the decimals.
  while (end < text_.size() && (text_[end] == '.' || is_digit(text_[end]))) ++end;
  text_.erase(kDateLength, end - kDateLength);
}

Expected<Timestamp> TimestampReader::parse(std::string_view text) {
  std::string_view zone = text.substr(std::min(kDateLength, text.size()));
  std::int64_t nanos = 0;
  const bool regular = take_decimals(zone, nanos);
  if (regular && text.starts_with(date_) && zone == zone_ && !date_.empty()) {
    return Timestamp{second_.unix_nanos + nanos, second_.zone_minutes};
  }
  Expected<Timestamp> time = parse_rfc3339(text);
  // Near the ends of the range, and for the zero time, adding the decimals is not how the sum is made.
  const bool cacheable = time && regular && time->unix_nanos != kZeroTime && nanos == time->unix_nanos % kSecond &&
                         time->unix_nanos <= INT64_MAX - kSecond;
  if (cacheable) {
    date_ = text.substr(0, kDateLength);
    zone_ = zone;
    second_ = {time->unix_nanos - nanos, time->zone_minutes};
  }
  return time;
}

std::int16_t LocalZone::minutes(std::int64_t unix_nanos) {
  const std::int64_t quarter = unix_nanos / kQuarter - (unix_nanos % kQuarter < 0 ? 1 : 0);
  if (quarter != quarter_) {
    quarter_ = quarter;
    minutes_ = local_zone_minutes(unix_nanos);
  }
  return minutes_;
}

}  // namespace pepe
