#pragma once

#include <string>
#include <vector>

#include "pepe/engine/attack.h"

namespace pepe {

/// What is to be said about a run when it is over: failed, missed and late hits, and whether the generator
/// was the limit. Empty after a healthy run.
std::vector<std::string> attack_notes(const AttackSummary& summary);

}  // namespace pepe
