#pragma once

#include "pepe/pacer/load.h"

/// The rows of the registry, and what they share.
namespace pepe {

Expected<Load> make_constant_load(const LoadFlags& flags);
Expected<Load> make_linear_load(const LoadFlags& flags);
Expected<Load> make_sine_load(const LoadFlags& flags);
Expected<Load> make_step_load(const LoadFlags& flags);

/// What `pacer` schedules within `duration`, on average; `otherwise` when that has no end, or no number of hits.
Rate average_rate(const Pacer& pacer, Nanos duration, Rate otherwise);

}  // namespace pepe
