// HOT: once per turn of a worker. No allocation, lock, log or wall clock.
#include "engine/ready_set.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <memory>

#include "pepe/base/check.h"

namespace pepe {
namespace {

constexpr int kEventsPerPoll = 256;
constexpr int kForEver = -1;

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

timespec to_timespec(Nanos nanos) {
  return {.tv_sec = nanos.count() / 1'000'000'000, .tv_nsec = nanos.count() % 1'000'000'000};
}

// Closes what it holds, if that is open.
struct Descriptor {
  explicit Descriptor(int number) : fd{number} {}
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  const int fd;
};

}  // namespace

struct ReadySet::State {
  explicit State(asio::io_context& context)
      : io{context},
        slot{asio::use_service<SlotService>(context).slot},
        set{context},
        timer{::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)},
        waker{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)} {
    fault = open();
  }

  // 0 or errno.
  int open() {
    if (timer.fd < 0 || waker.fd < 0) return errno;
    const int fd = ::epoll_create1(EPOLL_CLOEXEC);
    if (fd < 0) return errno;
    error_code ec;
    set.assign(fd, ec);
    if (ec) {
      ::close(fd);
      return ec.value();
    }
    // No connection has these addresses. Neither descriptor is ever read: each edge is an event.
    return watch(timer.fd, &timer) && watch(waker.fd, &waker) ? 0 : errno;
  }

  bool watch(int fd, void* tag) {
    epoll_event event{};
    event.events = EPOLLIN | EPOLLET;
    event.data.ptr = tag;
    return ::epoll_ctl(set.native_handle(), EPOLL_CTL_ADD, fd, &event) == 0;
  }

  // The worker sleeps in the io_context, which wakes for its own handlers and for this set's descriptor alike.
  void await() {
    if (awaited) return;
    set.async_wait(asio::posix::stream_descriptor::wait_read, AwaitedHandler{&awaited, &slot});
    awaited = true;
  }

  // Set once for many waits: each change of the next timer costs a virtual machine an exit, which is why the waits have
  // no timeouts of their own. One that fires before `until` is good enough: it costs an early turn.
  void arm(Instant now, Instant until) {
    if (until == Instant::max() || (armed <= until && armed > now)) return;
    const itimerspec spec{.it_interval = {}, .it_value = to_timespec(until.time_since_epoch())};
    PEPE_CHECK(::timerfd_settime(timer.fd, TFD_TIMER_ABSTIME, &spec, nullptr) == 0);
    armed = until;
  }

  int look(int timeout) { return ::epoll_wait(set.native_handle(), raw.data(), kEventsPerPoll, timeout); }
  std::span<const ReadyEvent> take(int count);

  asio::io_context& io;
  HandlerSlot& slot;
  asio::posix::stream_descriptor set;
  Descriptor timer;
  Descriptor waker;
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

std::span<const ReadyEvent> ReadySet::State::take(int count) {
  std::size_t used = 0;
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = raw[static_cast<std::size_t>(i)];
    if (event.data.ptr == &waker) continue;
    if (event.data.ptr == &timer) {
      // Waking up was all the timer is for. It has fired, whatever time the caller's turn began at: a wait that took it
      // for armed would never end.
      armed = Instant::min();
      continue;
    }
    const bool closing = (event.events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
    events[used++] = {event.data.ptr, (event.events & EPOLLIN) != 0, (event.events & EPOLLOUT) != 0, closing, closing};
  }
  return {events.data(), used};
}

std::span<const ReadyEvent> ReadySet::poll() { return state_->take(state_->look(0)); }

std::span<const ReadyEvent> ReadySet::wait(Instant now, Instant until, bool alone) {
  State& state = *state_;
  state.arm(now, until);
  if (alone) return state.take(state.look(kForEver));
  // A call of wake(), too, may have had its edge before the io_context looks.
  if (const int count = state.look(0); count > 0) return state.take(count);
  state.await();
  state.io.run_one();
  return {};
}

void ReadySet::wake() noexcept { ::eventfd_write(state_->waker.fd, 1); }

}  // namespace pepe
