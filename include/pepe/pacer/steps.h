#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pepe/base/expected.h"
#include "pepe/base/time.h"
#include "pepe/base/units.h"

namespace pepe {

/// A rate that holds for some time. 0 hits: a pause.
struct Step {
  Rate rate;
  Nanos lasts{0};

  friend bool operator==(const Step&, const Step&) = default;
};

/// The value of -steps: rates, each with how long it holds, such as "100:10s,0:5s,500/1s:1m". Blanks around a step are
/// passed over. Error: names the step that is none.
Expected<std::vector<Step>> parse_steps(std::string_view text);
/// The inverse: "100/1s:10s,0/1s:5s,500/1s:1m0s".
std::string format_steps(std::span<const Step> steps);

}  // namespace pepe
