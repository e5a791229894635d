#include "engine/sink.h"

#include <exception>
#include <utility>

#include "engine/shortage.h"
#include "engine/signals.h"

namespace pepe {
namespace {

// Enough for a disk to take its time now and then.
constexpr std::size_t kQueueBytes = 16 * 1024 * 1024;
// Chunks that circulate without an allocation. The one last written is filled next: the memory of the others is not
// touched until the disk falls behind.
constexpr std::size_t kSpares = 8;
constexpr std::size_t kChunkBytes = 96 * 1024;
constexpr std::size_t kSpareBytes = 128 * 1024;

}  // namespace

Sink::Sink(ChunkSink& out, std::function<void()> on_error) : out_{out}, on_error_{std::move(on_error)} {
  for (std::size_t i = 0; i < kSpares; ++i) spares_.emplace_back().reserve(kChunkBytes);
  thread_ = std::thread{[this] { run(); }};
}

Sink::~Sink() {
  if (thread_.joinable()) finish();
}

bool Sink::offer(std::string& chunk) {
  {
    const std::lock_guard lock{mutex_};
    if (bytes_ >= kQueueBytes) {
      ++stalls_;
      return false;
    }
    if (spares_.empty()) spares_.emplace_back();
    bytes_ += chunk.size();
    spares_.front().swap(chunk);
    queue_.splice(queue_.end(), spares_, spares_.begin());
  }
  arrived_.notify_one();
  return true;
}

void Sink::force(std::string chunk) {
  {
    const std::lock_guard lock{mutex_};
    const std::size_t size = chunk.size();
    queue_.push_back(std::move(chunk));
    bytes_ += size;
  }
  arrived_.notify_one();
}

std::size_t Sink::stalls() const {
  const std::lock_guard lock{mutex_};
  return stalls_;
}

std::optional<Error> Sink::finish() {
  {
    const std::lock_guard lock{mutex_};
    finishing_ = true;
  }
  arrived_.notify_one();
  thread_.join();
  return error_;
}

void Sink::run() {
  leave_signals_to_others();
  std::unique_lock lock{mutex_};
  for (;;) {
    arrived_.wait(lock, [this] { return finishing_ || !queue_.empty(); });
    if (queue_.empty()) return;
    std::list<std::string> taken;
    taken.splice(taken.end(), queue_, queue_.begin());
    const bool failed_before = error_.has_value();
    lock.unlock();
    std::string& chunk = taken.front();
    Expected<void> written;
    if (!failed_before) written = write(chunk);
    const std::size_t size = chunk.size();
    chunk.clear();
    lock.lock();
    bytes_ -= size;
    if (spares_.size() < kSpares && chunk.capacity() <= kSpareBytes) spares_.splice(spares_.begin(), taken);
    if (written) continue;
    error_ = std::move(written).error();
    lock.unlock();
    on_error_();
    lock.lock();
  }
}

// A chunk may be too much for what unpacks it on its way.
Expected<void> Sink::write(const std::string& chunk) noexcept {
  try {
    return out_.write(chunk);
  } catch (const std::exception&) {
    return shortage_error("writing results");
  }
}

}  // namespace pepe
