// HOT: once per turn of a worker. No allocation, lock, log or wall clock.
#include "engine/ready_set.h"

#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <memory>

#include "pepe/base/check.h"

namespace pepe {
namespace {

constexpr std::size_t kEventsPerPoll = 256;

/// Memory for the one handler that is under way at a time. Asio recycles such memory only for operations that are
/// started inside a handler, which the worker's waits are not.
struct HandlerSlot {
  alignas(std::max_align_t) std::array<std::byte, 256> bytes;
  bool used{false};
};

/// Keeps the slot of an io_context: the handler of a wait that was cut short is still queued there when its set is
/// gone.
class SlotService : public asio::execution_context::service {
 public:
  static inline asio::execution_context::id id;
  explicit SlotService(asio::execution_context& owner) : service{owner} {}
  HandlerSlot slot;

 private:
  void shutdown() override {}
};

template <class T>
struct SlotAllocator {
  using value_type = T;
  explicit SlotAllocator(HandlerSlot* memory) noexcept : slot{memory} {}
  template <class U>
  SlotAllocator(const SlotAllocator<U>& other) noexcept : slot{other.slot} {}

  T* allocate(std::size_t count) {
    if (slot->used || count * sizeof(T) > slot->bytes.size()) return std::allocator<T>{}.allocate(count);
    slot->used = true;
    return reinterpret_cast<T*>(slot->bytes.data());
  }
  void deallocate(T* memory, std::size_t count) {
    if (reinterpret_cast<std::byte*>(memory) != slot->bytes.data())
      return std::allocator<T>{}.deallocate(memory, count);
    slot->used = false;
  }
  template <class U>
  bool operator==(const SlotAllocator<U>& other) const noexcept {
    return slot == other.slot;
  }

  HandlerSlot* slot;
};

/// Notes that the set's descriptor became readable.
struct AwaitedHandler {
  using allocator_type = SlotAllocator<std::byte>;
  allocator_type get_allocator() const noexcept { return allocator_type{slot}; }
  void operator()(const error_code&) const { *awaited = false; }

  bool* awaited;
  HandlerSlot* slot;
};

timespec to_timespec(Instant instant) {
  const auto nanos = instant.time_since_epoch().count();
  return {.tv_sec = nanos / 1'000'000'000, .tv_nsec = nanos % 1'000'000'000};
}

}  // namespace

struct ReadySet::State {
  explicit State(asio::io_context& context)
      : io{context},
        slot{asio::use_service<SlotService>(context).slot},
        set{context},
        timer{::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)} {
    fault = open();
  }
  ~State() {
    if (timer >= 0) ::close(timer);
  }

  // 0 or errno.
  int open() {
    if (timer < 0) return errno;
    const int fd = ::epoll_create1(EPOLL_CLOEXEC);
    if (fd < 0) return errno;
    error_code ec;
    set.assign(fd, ec);
    if (ec) {
      ::close(fd);
      return ec.value();
    }
    epoll_event event{};
    event.events = EPOLLIN | EPOLLET;
    event.data.ptr = this;  // no connection has this address
    return ::epoll_ctl(fd, EPOLL_CTL_ADD, timer, &event) == 0 ? 0 : errno;
  }

  // The worker sleeps in the io_context, which wakes for its own handlers and for this set's descriptor alike.
  void await() {
    if (awaited) return;
    set.async_wait(asio::posix::stream_descriptor::wait_read, AwaitedHandler{&awaited, &slot});
    awaited = true;
  }

  void arm(Instant until) {
    const itimerspec spec{.it_interval = {}, .it_value = to_timespec(until)};
    PEPE_CHECK(::timerfd_settime(timer, TFD_TIMER_ABSTIME, &spec, nullptr) == 0);
    armed = until;
  }

  asio::io_context& io;
  HandlerSlot& slot;
  asio::posix::stream_descriptor set;
  int timer;
  int fault{0};
  bool awaited{false};
  Instant armed{Instant::min()};
  std::array<epoll_event, kEventsPerPoll> raw;
  std::array<ReadyEvent, kEventsPerPoll> events;
};

ReadySet::ReadySet(asio::io_context& io) : state_{std::make_unique<State>(io)} {}
ReadySet::~ReadySet() = default;

int ReadySet::fault() const noexcept { return state_->fault; }

bool ReadySet::add(int fd, void* tag) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.ptr = tag;
  return ::epoll_ctl(state_->set.native_handle(), EPOLL_CTL_ADD, fd, &event) == 0;
}

void ReadySet::remove(int fd) { ::epoll_ctl(state_->set.native_handle(), EPOLL_CTL_DEL, fd, nullptr); }

void ReadySet::await_writable(int) {}  // the edge was asked for by add()

std::span<const ReadyEvent> ReadySet::poll() {
  State& state = *state_;
  const int count = ::epoll_wait(state.set.native_handle(), state.raw.data(), kEventsPerPoll, 0);
  std::size_t used = 0;
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = state.raw[static_cast<std::size_t>(i)];
    if (event.data.ptr == &state) {
      // Waking up was all the timer is for. It has fired, whatever time the caller's turn began at: a wait that took it
      // for armed would never end.
      state.armed = Instant::min();
      continue;
    }
    const bool closing = (event.events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
    state.events[used++] = {event.data.ptr, (event.events & EPOLLIN) != 0, (event.events & EPOLLOUT) != 0, closing,
                            closing};
  }
  return {state.events.data(), used};
}

void ReadySet::wait(Instant now, Instant until) {
  State& state = *state_;
  // A timer that fires before `until` is good enough: it costs one early turn instead of a system call each time.
  if (until != Instant::max() && (state.armed > until || state.armed <= now)) state.arm(until);
  state.await();
  state.io.run_one();
}

}  // namespace pepe
