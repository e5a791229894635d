#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "cli/attack_flags.h"
#include "pepe/base/expected.h"
#include "pepe/pacer/shard.h"

/// When an attack starts, and which part of it this process sends: the values of -start-at and -shard, and the checks
/// of what does not go together.
namespace pepe {

/// The value of a variable of the environment; nullptr: it is not set.
using Environment = std::function<const char*(const char* name)>;

/// "I/N" (I from 0 on), "auto" or "auto/N": where a launcher has started this process as one of several, its
/// environment says which. Error: what was expected.
Expected<Shard> parse_shard(std::string_view text, const Environment& environment);

/// RFC 3339, or seconds since 1970 with up to nine decimals. Error: what was expected.
Expected<Timestamp> parse_start_at(std::string_view text);

/// Error: one line on the flag that another one rules out.
Expected<void> check_start(const AttackFlags& flags);

}  // namespace pepe
