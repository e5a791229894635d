#pragma once

#include <cstdint>
#include <utility>

#include "engine/asio.h"
#include "pepe/base/expected.h"

namespace pepe {

/// SIGINT and SIGTERM do not come to the thread that calls this: they are for the one that conducts, which can then
/// change what they do without a moment in which one would end the process.
void leave_signals_to_others() noexcept;

/// Waits until the wall clock, as it is set then, is at `unix_nanos`. One of the two signals ends the wait, and is kept
/// for the RunSignals that are opened next. REQUIRES: leave_signals_to_others() was called. Error: no descriptor.
Expected<void> sleep_until_signal(std::int64_t unix_nanos);

/// SIGINT and SIGTERM of a run, for the thread that conducts it. Of one kind, those that come before the first is read
/// are one. Not asio::signal_set: that leaks when it finds no memory for its first signal.
class RunSignals {
 public:
  explicit RunSignals(asio::io_context& io) : descriptor_{io} {}
  /// From here on, until the process ends, they are for a run that is over while its results are still being written.
  /// The first two of a run leave the writing a second: what is signalled twice, as by a terminal and by a parent,
  /// loses nothing. A reader that stands still could hold it up for ever: then, and at the third, the process ends,
  /// with status 0 if the run was told to stop, else by the signal. Nothing changes if it was not opened.
  ~RunSignals();
  RunSignals(const RunSignals&) = delete;
  RunSignals& operator=(const RunSignals&) = delete;

  /// From here on none of them ends the process. Error: no descriptor, or no memory.
  Expected<void> open();
  /// Calls `on_signal` with how many there have been, whenever there are more. REQUIRES: open() has succeeded.
  template <class OnSignal>
  void watch(OnSignal on_signal) {
    descriptor_.async_wait(asio::posix::stream_descriptor::wait_read,
                           [this, on_signal = std::move(on_signal)](const error_code& error) mutable {
                             if (error) return;
                             on_signal(count());
                             watch(std::move(on_signal));
                           });
  }
  /// The next one does what it does to any process.
  void let_go() noexcept;

 private:
  int count() noexcept;

  asio::posix::stream_descriptor descriptor_;
  int seen_{0};
};

}  // namespace pepe
