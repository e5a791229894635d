#pragma once

namespace pepe {

/// From here on, until the process ends, SIGINT and SIGTERM are for a run that is over while its results are still
/// being written. The first two of a run, `seen` of which it has had, leave the writing a second: what is signalled
/// twice, as by a terminal and by a parent, loses nothing. A reader that stands still could hold it up for ever: then,
/// and at the third, the process ends, with status 0 if the run was told to stop (`seen` > 0), else by the signal.
void watch_last_signals(int seen) noexcept;

/// SIGINT and SIGTERM do not come to the thread that calls this: they are for the one that conducts, which can then
/// change what they do without a moment in which one would end the process.
void leave_signals_to_others() noexcept;

}  // namespace pepe
