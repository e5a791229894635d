#pragma once

#include <optional>
#include <string_view>

#include "pepe/result/run_facts.h"

namespace pepe {

/// The facts in `map`, one whole msgpack map as append_facts_chunk() writes it. Unknown keys and values of another type
/// than expected are passed over. nullopt: not a map, or larger than facts can be.
std::optional<RunFacts> parse_run_facts(std::string_view map);

}  // namespace pepe
