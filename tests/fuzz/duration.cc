#include <cstdint>
#include <string>

#include "fuzz/input.h"
#include "pepe/base/check.h"
#include "pepe/base/time.h"

/// A duration that parses prints to one that parses as the same, with either sign; so does any number of nanoseconds,
/// and rounding changes it by half a unit at most.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pepe::fuzz::Input input{data, size};
  const std::string text{input.rest()};
  if (const auto duration = pepe::parse_duration(text)) {
    const auto again = pepe::parse_duration(pepe::format_duration(*duration));
    PEPE_CHECK(again && *again == *duration);
    const bool is_signed = text[0] == '-' || text[0] == '+';
    const auto negative = pepe::parse_duration("-" + text);
    PEPE_CHECK(negative.has_value() != is_signed);
    if (negative) PEPE_CHECK(*negative == -*duration);
  } else {
    PEPE_CHECK(duration.error().text().starts_with("time: "));
  }

  const pepe::Nanos nanos{input.number<std::int64_t>()};
  const auto read = pepe::parse_duration(pepe::format_duration(nanos));
  PEPE_CHECK(read && *read == nanos);
  const pepe::Nanos rounded = pepe::round_duration(nanos);
  // Only above zero is there anything to round; at the very end there is nowhere to round up to.
  constexpr pepe::Nanos kHalf = std::chrono::seconds{30};
  if (nanos <= pepe::Nanos{0}) PEPE_CHECK(rounded == nanos);
  if (nanos > pepe::Nanos{0})
    PEPE_CHECK(rounded > pepe::Nanos{0} && rounded - nanos <= kHalf && nanos - rounded <= kHalf);
  return 0;
}
