#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "pacer/shapes.h"

namespace pepe {
namespace {

constexpr std::string_view kConstantFlags[] = {"rate"};
constexpr std::string_view kLinearFlags[] = {"rate", "rate-to"};
constexpr std::string_view kSineFlags[] = {"rate", "amplitude", "period"};
constexpr std::string_view kStepFlags[] = {"steps"};

constexpr std::array kPacers = {
    PacerEntry{"constant", "the same rate all the time", kConstantFlags, make_constant_load},
    PacerEntry{"linear", "evenly from -rate to -rate-to", kLinearFlags, make_linear_load},
    PacerEntry{"sine", "up and down around -rate, by -amplitude, once in each -period", kSineFlags, make_sine_load},
    PacerEntry{"step", "the rates of -steps, one after the other", kStepFlags, make_step_load},
};

}  // namespace

std::span<const PacerEntry> pacers() { return kPacers; }

const PacerEntry* find_pacer(std::string_view name) {
  const auto found = std::find_if(kPacers.begin(), kPacers.end(), [name](const auto& row) { return row.name == name; });
  return found == kPacers.end() ? nullptr : found;
}

std::string pacer_names() {
  std::string names;
  for (std::size_t i = 0; i < kPacers.size(); ++i) {
    if (i > 0) names += i + 1 < kPacers.size() ? ", " : " or ";
    names += kPacers[i].name;
  }
  return names;
}

std::string format_rate(Rate rate) { return fmt::format("{}/{}", rate.hits, format_duration(rate.per)); }

Rate average_rate(const Pacer& pacer, Nanos duration, Rate otherwise) {
  if (duration <= Nanos{0}) return otherwise;
  const std::uint64_t hits = pacer.hits_before(duration);
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  return hits > kMost ? otherwise : Rate{static_cast<std::int64_t>(hits), duration};
}

}  // namespace pepe
