#pragma once

#include <optional>

#include "pepe/base/time.h"

namespace pepe {

/// SIGINT for the commands that read: instead of ending the process it ends the reading, and what was read is
/// reported. One per process, since signals are. The first interrupt leaves the writer at the other end of a
/// pipe, which gets the same Ctrl-C, half a second to say its last; the second ends the reading at once.
namespace interrupt {

inline constexpr Nanos kGrace = std::chrono::milliseconds{500};

/// Catches SIGINT from here on. REQUIRES: called on the only thread.
void install();

/// A descriptor that is readable when an interrupt came; -1 before install().
int descriptor();
/// Takes note of what descriptor() has to say.
void acknowledge();

/// How long reading may still go on; nullopt: there was no interrupt. 0: it is over.
std::optional<Nanos> time_left();

/// Whether there was one: an end in the middle of a record is no damage then.
bool happened();

}  // namespace interrupt
}  // namespace pepe
