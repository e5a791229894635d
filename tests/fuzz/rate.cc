#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "fuzz/input.h"
#include "fuzz/schedule.h"
#include "pepe/base/check.h"
#include "pepe/base/units.h"
#include "pepe/pacer/pacer.h"

namespace {

void check_hint(std::string_view error) {
  constexpr std::string_view kHint = " is not a whole number of hits: write ";
  error.remove_prefix(error.rfind('"') + 1);  // what was given stands in front, in quotes
  if (error.starts_with(kHint)) PEPE_CHECK(pepe::parse_rate(error.substr(kHint.size())));
}

}  // namespace

/// The first eight bytes are the number of a hit, the rest is a rate. One that parses prints to one that parses as the
/// same; its schedule never goes backwards, and counts the hits before an instant as it places them. The hint of an
/// error is a rate.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pepe::fuzz::Input input{data, size};
  const auto n = input.number<std::uint64_t>();
  const auto rate = pepe::parse_rate(input.rest());
  if (!rate) {
    check_hint(rate.error().text());
    return 0;
  }
  const auto again = pepe::parse_rate(fmt::format("{}/{}", rate->hits, pepe::format_duration(rate->per)));
  PEPE_CHECK(again && *again == *rate);
  if (rate->hits < 0 || rate->per.count() < 0) return 0;
  const auto pacer = pepe::make_constant_pacer(*rate);
  PEPE_CHECK(pacer->due(0) == pepe::Nanos{0});
  pepe::fuzz::check_schedule(*pacer, n);
  pepe::fuzz::check_schedule(*pacer, n % 1000);
  return 0;
}
