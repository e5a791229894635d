#include <cstdint>
#include <string>

#include "fuzz/input.h"
#include "pepe/base/check.h"
#include "pepe/base/time.h"

namespace {

void check_prints_back(pepe::Timestamp time) {
  std::string text;
  pepe::append_rfc3339(time, text);
  const auto again = pepe::parse_rfc3339(text);
  PEPE_CHECK(again && again->unix_nanos == time.unix_nanos);
  // The zero time is printed without its zone.
  PEPE_CHECK(again->zone_minutes == time.zone_minutes || time.unix_nanos == pepe::kZeroTime);
}

}  // namespace

/// A time that parses prints to one that parses as the same, and so does any number of nanoseconds in any zone.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pepe::fuzz::Input input{data, size};
  if (const auto time = pepe::parse_rfc3339(input.rest())) check_prints_back(*time);
  const auto nanos = input.number<std::int64_t>();
  check_prints_back({nanos, static_cast<std::int16_t>(input.number<std::int16_t>() % (24 * 60))});
  return 0;
}
