#include "cli/load_flags.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

namespace pepe {
namespace {

bool was_given(std::span<const GivenFlag> given, std::string_view name) {
  return std::any_of(given.begin(), given.end(), [name](const GivenFlag& flag) { return flag.name == name; });
}

}  // namespace

void add_load_flags(FlagSet& set, AttackFlags& flags) {
  LoadFlags& load = flags.load;
  set.add({"pacer", "SHAPE", "how the rate goes: " + pacer_names(), std::string{flags.pacer->name}},
          [&flags](std::string_view text) -> Expected<void> {
            const PacerEntry* const entry = find_pacer(text);
            if (entry == nullptr) return Error{"want " + pacer_names()};
            flags.pacer = entry;
            return {};
          });
  set.add({"rate-to", "N[/D]", "with -pacer=linear, which goes evenly from -rate to this within -duration"},
          assign(load.rate_to, parse_finite_rate));
  set.add({"amplitude", "N[/D]", "with -pacer=sine: how far the rate goes up and down from -rate"},
          assign(load.amplitude, parse_finite_rate));
  set.add({"period", "D", "with -pacer=sine: the time from one peak to the next"}, assign(load.period, parse_duration));
  set.add({"steps", "N[/D]:D,...", "with -pacer=step: rates, each with how long it holds; 0 is a pause"},
          assign(load.steps, parse_steps));
}

Expected<Load> make_load(const AttackFlags& flags, std::span<const GivenFlag> given) {
  for (const GivenFlag& flag : given) {
    const std::string readers = pacer_names_reading(flag.name);
    if (!readers.empty() && !flags.pacer->reads(flag.name)) {
      return Error{fmt::format("-{} goes with -pacer={}, not with -pacer={}", flag.name, readers, flags.pacer->name)};
    }
  }
  LoadFlags load = flags.load;
  load.rate = flags.options.rate;
  if (was_given(given, "duration")) load.duration = flags.options.duration;
  // A constant rate may be without a bound, and 0 means that.
  if (flags.pacer != &pacers().front() && flags.pacer->reads("rate")) {
    if (const auto rate = parse_finite_rate(flags.rate_text); !rate) return Error{"-rate: " + rate.error().text()};
  }
  return flags.pacer->make(load);
}

}  // namespace pepe
