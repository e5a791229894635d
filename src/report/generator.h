#pragma once

#include <span>
#include <string>

#include "pepe/result/run_facts.h"

namespace pepe {

/// Appends `,"generator":{...}`: what the complete ones of `runs` say about how well the hits were sent, as one: counts
/// and rates summed, lags and shares at their worst. Nothing when none is complete.
void append_generator(std::span<const RunFacts> runs, std::string& out);

}  // namespace pepe
