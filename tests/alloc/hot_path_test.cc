#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <string>
#include <string_view>
#include <thread>

#include "pepe/engine/attack.h"
#include "support/alloc_scope.h"

namespace pepe {
namespace {

constexpr std::uint64_t kWarmUp = 20'000;
constexpr std::uint64_t kMeasured = 20'000;
constexpr std::uint64_t kConnections = 64;

/// Answers every request with the same bytes; allocates nothing. It waits until all connections have asked, so that
/// the client finds its answers together, as it does under load.
class LockstepServer {
 public:
  explicit LockstepServer(std::string answer)
      : answer_{std::move(answer)}, listener_{::socket(AF_INET, SOCK_STREAM, 0)} {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(listener_, 1024), 0);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread{[this] { serve(); }};
  }
  ~LockstepServer() {
    stop_ = true;
    thread_.join();
    ::close(listener_);
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/"; }

 private:
  void serve() {
    const int set = ::epoll_create1(0);
    watch(set, listener_);
    std::array<epoll_event, 128> events;
    std::array<int, kConnections> asked{};
    std::size_t waiting = 0;
    std::array<char, 4096> buffer;
    while (!stop_) {
      const int count = ::epoll_wait(set, events.data(), static_cast<int>(events.size()), 20);
      for (int i = 0; i < count; ++i) {
        const int fd = events[static_cast<std::size_t>(i)].data.fd;
        if (fd == listener_) {
          watch(set, ::accept(listener_, nullptr, nullptr));
        } else if (::recv(fd, buffer.data(), buffer.size(), 0) > 0) {
          asked[waiting++] = fd;
        } else {
          ::close(fd);
        }
      }
      // At the end of the run fewer ask: a turn without news lets them go.
      if (waiting == kConnections || (count == 0 && waiting > 0)) {
        for (std::size_t i = 0; i < waiting; ++i) ::send(asked[i], answer_.data(), answer_.size(), MSG_NOSIGNAL);
        waiting = 0;
      }
    }
    ::close(set);
  }
  static void watch(int set, int fd) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    ::epoll_ctl(set, EPOLL_CTL_ADD, fd, &event);
  }

  std::string answer_;
  int listener_;
  std::uint16_t port_{0};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

/// The closed loop for a number of hits; notes the counters when the measured part begins and ends. It is asked once
/// per hit, on the worker's thread.
class MeasuringPacer final : public Pacer {
 public:
  std::optional<Nanos> due(std::uint64_t n) const noexcept override {
    if (n == kWarmUp) before_ = {allocations(), system_calls()};
    if (n == kWarmUp + kMeasured) after_ = {allocations(), system_calls()};
    if (n > kWarmUp + kMeasured) return std::nullopt;
    return Nanos{0};
  }
  std::uint64_t hits_before(Nanos) const noexcept override { return kWarmUp + kMeasured; }
  bool unpaced() const noexcept override { return true; }

  std::uint64_t allocated() const { return after_.allocations - before_.allocations; }
  SystemCalls calls() const {
    return {after_.calls.send - before_.calls.send, after_.calls.recv - before_.calls.recv,
            after_.calls.wait - before_.calls.wait, after_.calls.other - before_.calls.other};
  }

 private:
  struct Counts {
    std::uint64_t allocations{0};
    SystemCalls calls;
  };
  mutable Counts before_;
  mutable Counts after_;
};

class OneTarget final : public Targeter {
 public:
  explicit OneTarget(std::string url) : url_{std::move(url)} {}
  Expected<std::optional<Target>> next() override {
    if (url_.empty()) return std::optional<Target>{};
    return std::optional<Target>{Target{"GET", std::exchange(url_, {}), {}, nullptr}};
  }

 private:
  std::string url_;
};

struct NullSink final : ChunkSink {
  Expected<void> write(std::string_view) override { return {}; }
};

const std::string kAnswer =
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 100\r\nDate: Thu, 01 Jan 2026 00:00:00 "
    "GMT\r\n\r\n" +
    std::string(100, 'x');

void attack_measured(const MeasuringPacer& pacer) {
  LockstepServer server{kAnswer};
  OneTarget targeter{server.url()};
  NullSink sink;
  const AttackOptions options{.rate = {0, std::chrono::seconds{1}}, .max_workers = kConnections, .threads = 1};
  const auto summary = attack(options, targeter, pacer, sink, {});
  ASSERT_TRUE(summary) << summary.error().text();
  EXPECT_EQ(summary->failed, 0U);
}

TEST(HotPath, Http1HitAllocatesNothingOnceWarm) {
  MeasuringPacer pacer;
  attack_measured(pacer);
  EXPECT_EQ(pacer.allocated(), 0U);
}

TEST(HotPath, Http1HitIsOneSendAndOneReceive) {
  MeasuringPacer pacer;
  attack_measured(pacer);
  const SystemCalls calls = pacer.calls();
  EXPECT_LE(calls.send, kMeasured + kConnections);
  EXPECT_LE(calls.recv, kMeasured + kConnections);
  EXPECT_LE(calls.other, kMeasured / 10);
}

TEST(HotPath, Http1HitCostsLittleMoreThanTwoSystemCalls) {
  // One core for both sides: the client finds the answers of a round together, so the figure is no matter of luck.
  cpu_set_t before;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu)
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  ::sched_setaffinity(0, sizeof one, &one);
  MeasuringPacer pacer;
  attack_measured(pacer);
  ::sched_setaffinity(0, sizeof before, &before);
  const SystemCalls calls = pacer.calls();
  EXPECT_LE(static_cast<double>(calls.all()) / kMeasured, 2.1)
      << calls.send << " send, " << calls.recv << " recv, " << calls.wait << " waits, " << calls.other << " others";
}

}  // namespace
}  // namespace pepe
