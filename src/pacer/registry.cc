#include <algorithm>
#include <array>
#include <vector>

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

/// "a, b or c"
template <class Takes>
std::string names_where(Takes takes) {
  std::vector<std::string_view> names;
  for (const PacerEntry& entry : kPacers) {
    if (takes(entry)) names.push_back(entry.name);
  }
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 < names.size() ? ", " : " or ";
    text += names[i];
  }
  return text;
}

}  // namespace

bool PacerEntry::reads(std::string_view flag) const noexcept {
  return std::find(flags.begin(), flags.end(), flag) != flags.end();
}

std::span<const PacerEntry> pacers() { return kPacers; }

const PacerEntry* find_pacer(std::string_view name) {
  const auto found = std::find_if(kPacers.begin(), kPacers.end(), [name](const auto& row) { return row.name == name; });
  return found == kPacers.end() ? nullptr : found;
}

std::string pacer_names() {
  return names_where([](const PacerEntry&) { return true; });
}

std::string pacer_names_reading(std::string_view flag) {
  return names_where([flag](const PacerEntry& entry) { return entry.reads(flag); });
}

}  // namespace pepe
