#pragma once

#include <memory>
#include <span>

#include "engine/asio.h"
#include "pepe/base/time.h"

namespace pepe {

/// What happened to one watched socket.
struct ReadyEvent {
  void* tag;
  bool readable;
  bool writable;
  bool closing;  ///< The peer has shut its side down, or the connection broke, as far as the system says so.
  bool drain;    ///< More may hide behind a short read (an end, above all): read until the socket is empty.
};

/// The sockets of one worker that are ready for reading or writing, edge by edge: after an event, read until the
/// socket is empty (or a read comes back short, unless `drain`). Belongs to the worker's thread.
/// One implementation is chosen when pepe is built: ready_set_epoll.cc (Linux) or ready_set_asio.cc (anywhere).
class ReadySet {
 public:
  explicit ReadySet(asio::io_context& io);
  ~ReadySet();
  ReadySet(const ReadySet&) = delete;

  /// Why the system refused what the set needs, as errno; 0: it is there. REQUIRED to be 0 for all below.
  int fault() const noexcept;

  /// Watches a connected, non-blocking socket in both directions. `tag` comes back with each event. The caller keeps
  /// `fd`, and removes it before closing it. False: the system refused (errno says why).
  bool add(int fd, void* tag);
  void remove(int fd);
  /// Asks for an event once `fd`, which was full, can be written again.
  void await_writable(int fd);

  /// Events that are there now; never blocks. Valid until the next call.
  std::span<const ReadyEvent> poll();

  /// Events that are there or come before `until`; none also when wake() was called or a handler of the io_context has
  /// run. `alone`: the io_context has nothing to wait for, so none of its handlers is waited for either. `now` is the
  /// time just read. Valid until the next call.
  std::span<const ReadyEvent> wait(Instant now, Instant until, bool alone);

  /// Ends the wait() that is under way, or the next one. From any thread; needs no memory.
  void wake() noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace pepe
