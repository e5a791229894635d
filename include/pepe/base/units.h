#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "pepe/base/expected.h"
#include "pepe/base/time.h"

namespace pepe {

/// Hits asked for: `hits` in every `per`. hits == 0 or per == 0: unpaced, as fast as the workers can.
struct Rate {
  std::int64_t hits{50};
  Nanos per{std::chrono::seconds{1}};

  bool unpaced() const noexcept { return hits == 0 || per.count() == 0; }
  double per_second() const noexcept {
    return unpaced() ? 0 : static_cast<double>(hits) * 1e9 / static_cast<double>(per.count());
  }
  friend bool operator==(const Rate&, const Rate&) = default;
};

/// The value of -rate: "500", "500/1s", "3/250ms", "240/m", "0", "0/anything", "infinity".
/// Negative counts are parsed (the caller decides); fractions are refused with the hint "1/2s".
Expected<Rate> parse_rate(std::string_view text);
/// "500/1s", which parse_rate() reads back.
std::string format_rate(Rate rate);

/// A number of bytes.
using Bytes = std::uint64_t;

/// The value of -max-body: "-1" (returned as -1: no limit), or digits and a unit of vegeta's list in any case,
/// powers of 1024: "0", "1kb", "1500 b", "2megabytes". The empty text is 0. Error: what was expected.
Expected<std::int64_t> parse_size(std::string_view text);

}  // namespace pepe
