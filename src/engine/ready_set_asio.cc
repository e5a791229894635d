// HOT: once per turn of a worker. The portable ready set: every socket is awaited through Asio.
#include "engine/ready_set.h"

#include <atomic>
#include <cerrno>
#include <memory>
#include <unordered_map>
#include <vector>

#include "pepe/base/check.h"

namespace pepe {

// One watched socket. Asio waits on a descriptor of its own object, which is released, never closed, at the end.
struct Watch {
  Watch(asio::io_context& io, void* owner) : descriptor{io}, tag{owner} {}
  ~Watch() {
    if (descriptor.is_open()) descriptor.release();
  }

  asio::posix::stream_descriptor descriptor;
  void* tag;
};

struct ReadySet::State {
  explicit State(asio::io_context& context) : io{context}, timer{context} {}

  // Each handler keeps its Watch alive, since a cancelled wait still runs once more.
  void await_read(const std::shared_ptr<Watch>& watch) {
    watch->descriptor.async_wait(asio::posix::stream_descriptor::wait_read, [this, watch](const error_code& error) {
      if (error || watch->tag == nullptr) return;
      // Asio does not say why a descriptor became readable.
      ready.push_back({watch->tag, true, false, false, true});
      rearm.push_back(watch);
    });
  }
  void await_write(const std::shared_ptr<Watch>& watch) {
    watch->descriptor.async_wait(asio::posix::stream_descriptor::wait_write, [this, watch](const error_code& error) {
      if (error || watch->tag == nullptr) return;
      ready.push_back({watch->tag, false, true, false, false});
    });
  }

  bool take_wake() {
    if (!woken.load(std::memory_order_relaxed) || !woken.exchange(false)) return false;
    io.restart();
    return true;
  }
  bool look();
  std::span<const ReadyEvent> take();

  asio::io_context& io;
  asio::steady_timer timer;
  Instant armed{Instant::min()};
  std::atomic<bool> woken{false};
  std::unordered_map<int, std::shared_ptr<Watch>> watches;
  std::vector<std::shared_ptr<Watch>> rearm;
  std::vector<ReadyEvent> ready;
  std::vector<ReadyEvent> handed_out;
};

ReadySet::ReadySet(asio::io_context& io) : state_{std::make_unique<State>(io)} {}
ReadySet::~ReadySet() = default;

int ReadySet::fault() const noexcept { return 0; }

bool ReadySet::add(int fd, void* tag) {
  auto watch = std::make_shared<Watch>(state_->io, tag);
  error_code error;
  if (watch->descriptor.assign(fd, error); error) {
    errno = error.value();
    return false;
  }
  state_->watches[fd] = watch;
  state_->await_read(watch);
  return true;
}

void ReadySet::remove(int fd) {
  const auto found = state_->watches.find(fd);
  if (found == state_->watches.end()) return;
  Watch& watch = *found->second;
  std::erase_if(state_->ready, [&](const ReadyEvent& event) { return event.tag == watch.tag; });
  watch.tag = nullptr;
  watch.descriptor.release();
  state_->watches.erase(found);
}

void ReadySet::await_writable(int fd) {
  const auto found = state_->watches.find(fd);
  if (found != state_->watches.end()) state_->await_write(found->second);
}

// True: handlers have run, of watched sockets or of others.
bool ReadySet::State::look() {
  // What was handed out has been read until empty by now, so the next edge may be asked for.
  for (const auto& watch : rearm)
    if (watch->tag != nullptr) await_read(watch);
  rearm.clear();
  return io.poll() > 0;
}

std::span<const ReadyEvent> ReadySet::State::take() {
  handed_out.clear();
  handed_out.swap(ready);
  return handed_out;
}

std::span<const ReadyEvent> ReadySet::poll() {
  state_->take_wake();
  state_->look();
  return state_->take();
}

std::span<const ReadyEvent> ReadySet::wait(Instant now, Instant until, bool) {
  State& state = *state_;
  // One that comes after this leaves the loop stopped, so that it ends at once.
  const bool woken = state.take_wake();
  // What a handler has done, a hit that it ended above all, may leave nothing to wait for.
  if (state.look() || woken) return state.take();
  if (until != Instant::max() && (state.armed > until || state.armed <= now)) {
    state.armed = Instant::min();
    state.timer.expires_at(until);
    // A timer that has fired is no longer armed, whatever time the caller's turn began at.
    state.timer.async_wait([&state](const error_code& error) {
      if (!error) state.armed = Instant::min();
    });
    // Only now: the wait may have found no memory.
    state.armed = until;
  }
  state.io.run_one();
  return {};
}

// The loop is stopped first: told first, it could be set going again before it stops.
void ReadySet::wake() noexcept {
  state_->io.stop();
  state_->woken.store(true);
}

}  // namespace pepe
