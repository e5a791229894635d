#include <limits>

#include "pacer/shapes.h"
#include "pepe/base/text.h"

namespace pepe {

Expected<Rate> parse_finite_rate(std::string_view text) {
  auto rate = parse_rate(text);
  if (!rate) return rate.error();
  if (rate->hits < 0 || rate->per.count() < 0) return Error{"a rate can't be negative"};
  if (text == "infinity" || (rate->hits > 0 && rate->per.count() == 0))
    return Error{quote(text) + " has no bound: only -pacer=constant can go as fast as -max-workers allow"};
  return rate;
}

Rate average_rate(const Pacer& pacer, Nanos duration, Rate otherwise) {
  if (duration <= Nanos{0}) return otherwise;
  const std::uint64_t hits = pacer.hits_before(duration);
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  return hits > kMost ? otherwise : Rate{static_cast<std::int64_t>(hits), duration};
}

}  // namespace pepe
