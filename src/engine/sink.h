#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "pepe/engine/attack.h"

namespace pepe {

/// The way of full chunks from the workers to the ChunkSink: a bounded queue and one writing thread. Workers never wait
/// for the disk: offer() says when the queue is full, and the worker holds back its hits until there is room.
class Sink {
 public:
  /// `on_error` runs once, on the writing thread, when a write failed; chunks after it are dropped. It may not throw.
  Sink(ChunkSink& out, std::function<void()> on_error);
  ~Sink();
  Sink(const Sink&) = delete;

  /// Takes `chunk` (and leaves an empty string, with the memory of an older chunk). False, and nothing taken: full.
  bool offer(std::string& chunk);
  /// Takes `chunk` in any case.
  void force(std::string chunk);
  /// How often a full queue turned a chunk away.
  std::size_t stalls() const;
  /// Writes what is left and ends the thread. The first error of a write, if there was one.
  std::optional<Error> finish();

 private:
  void run();
  Expected<void> write(const std::string& chunk) noexcept;

  ChunkSink& out_;
  std::function<void()> on_error_;
  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  // Lists, so that a chunk moves from the one to the other without an allocation.
  std::list<std::string> queue_;
  std::list<std::string> spares_;
  std::size_t bytes_{0};
  std::size_t stalls_{0};
  bool finishing_{false};
  std::optional<Error> error_;
  std::thread thread_;
};

}  // namespace pepe
