#pragma once

#include <span>

#include "cli/attack_flags.h"
#include "cli/flags.h"
#include "pepe/base/expected.h"
#include "pepe/pacer/load.h"

/// The flags of an attack that shape its load: -pacer, and what each shape needs beside -rate and -duration.
namespace pepe {

/// Declares them, without -rate and -duration, which add_attack_flags() does. `flags` must outlive `set`.
void add_load_flags(FlagSet& set, AttackFlags& flags);

/// The load that the flags ask for; `given` are those that were. Error: one line on a flag that is missing, or goes
/// with another shape.
Expected<Load> make_load(const AttackFlags& flags, std::span<const GivenFlag> given);

}  // namespace pepe
