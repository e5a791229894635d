#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pepe/base/expected.h"
#include "pepe/base/time.h"
#include "pepe/base/units.h"
#include "pepe/pacer/pacer.h"
#include "pepe/pacer/steps.h"

namespace pepe {

/// A rate of a load that changes: as parse_rate(), where 0 is no hits at all. Error: no such rate, one below 0, or one
/// without a bound ("infinity", "5/0s").
Expected<Rate> parse_finite_rate(std::string_view text);

/// What an attack's flags say about its load. What a shape has no use for is not looked at.
struct LoadFlags {
  Rate rate{};                      ///< -rate
  std::optional<Nanos> duration{};  ///< -duration, where it is given; 0 or less: until stopped
  std::optional<Rate> rate_to{};    ///< -rate-to
  std::optional<Rate> amplitude{};  ///< -amplitude
  std::optional<Nanos> period{};    ///< -period
  std::vector<Step> steps{};        ///< -steps
};

/// What is to be sent, and when.
struct Load {
  std::unique_ptr<Pacer> pacer;
  Nanos duration{0};    ///< Of the attack; 0 or less: until stopped.
  Rate rate;            ///< On average.
  std::string shape{};  ///< In words: "linear, 0/1s to 500/1s". Empty: a constant rate.
};

/// One row of the registry: a load's shape by its -pacer name.
struct PacerEntry {
  std::string_view name;
  std::string_view help;                    ///< One clause: "the rate goes evenly from -rate to -rate-to".
  std::span<const std::string_view> flags;  ///< Those of LoadFlags that it reads, beside -duration.
  /// Error: a flag is missing, or has a value that this shape can't have; one line that names it.
  Expected<Load> (*make)(const LoadFlags& flags);

  bool reads(std::string_view flag) const noexcept;
};

/// The shapes that exist: constant, linear, sine, step.
std::span<const PacerEntry> pacers();
/// nullptr: none of that name.
const PacerEntry* find_pacer(std::string_view name);
/// "constant, linear, sine or step", for a message.
std::string pacer_names();
/// Of those that read `flag`: "constant, linear or sine". Empty: none does.
std::string pacer_names_reading(std::string_view flag);

}  // namespace pepe
