#pragma once

#include <optional>
#include <string_view>

#include "pepe/result/run_facts.h"

namespace pepe {

/// The facts in `map`, one whole msgpack map as append_facts_chunk() writes it. Unknown keys and values of another type
/// than expected are passed over. nullopt: not a map, or larger than facts can be.
/// What the map leaves out is as in `before`.
std::optional<RunFacts> parse_run_facts(std::string_view map, const RunFacts& before);

/// All fields zero or empty: what a map that is the first of its run adds to.
RunFacts no_facts();

}  // namespace pepe
