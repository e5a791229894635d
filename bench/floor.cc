// The limit that load generators are compared with: one send and one recv per request over edge-triggered epoll, plain
// or through OpenSSL with read-ahead. Nothing is parsed but the first answer's length, and nothing is recorded.
// At a rate it sleeps in epoll until a request is due, and in no other way: no spinning, however late that makes it.
#include <sys/epoll.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <memory>
#include <vector>

#include "bench/flags.h"
#include "bench/floor_load.h"
#include "bench/floor_socket.h"
#include "bench/process.h"

namespace pepe {
namespace {

constexpr std::chrono::seconds kPatience{1};

class Http1Floor final : public FloorLoad {
 public:
  explicit Http1Floor(const FloorOptions& options)
      : FloorLoad{options},
        request_{"GET / HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(options.port) + "\r\n\r\n"},
        connections_(options.connections) {}

  Expected<void> connect_all() override;
  Expected<void> run() override;

 private:
  struct Connection {
    FloorSocket socket;
    std::uint64_t received{0};  ///< Bytes of the answer that is arriving.
  };

  bool start_requests();
  Instant due(std::uint64_t number) const;
  bool send_due(Instant now);
  int wait();
  bool on_readable(Connection& connection);
  bool learn_answer_size(std::size_t received);

  std::string request_;
  std::vector<Connection> connections_;
  std::vector<Connection*> idle_;  ///< At a rate: those without a request under way.
  std::uint64_t answer_size_{0};   ///< Head and body; 0: the first answer has not come yet.
  std::uint64_t sent_{0};          ///< At a rate.
};

Expected<void> Http1Floor::connect_all() {
  if (options_.rate > 0 && options_.tls) return Error{"-rate goes without -tls"};
  if (auto prepared = prepare(); !prepared) return prepared;
  const auto port = static_cast<std::uint16_t>(options_.port);
  for (Connection& connection : connections_)
    if (auto connected = connection.socket.connect(port, tls_.get(), epoll_, &connection); !connected) return connected;
  return {};
}

Expected<void> Http1Floor::run() {
  start_ = Clock::now();
  if (!start_requests()) return Error{"send failed"};
  for (;;) {
    const Instant now = Clock::now();
    if (over(now)) return {};
    if (options_.rate > 0 && !send_due(now)) return Error{"send failed"};
    const int count = wait();
    for (int i = 0; i < count; ++i)
      if (!on_readable(*static_cast<Connection*>(events_[static_cast<std::size_t>(i)].data.ptr)))
        return Error{"the connection was closed"};
  }
}

bool Http1Floor::start_requests() {
  for (Connection& connection : connections_) {
    if (options_.rate > 0)
      idle_.push_back(&connection);
    else if (!connection.socket.send(request_))
      return false;
  }
  return true;
}

Instant Http1Floor::due(std::uint64_t number) const {
  return start_ + Nanos{static_cast<std::int64_t>(number * 1'000'000'000 / options_.rate)};
}

bool Http1Floor::send_due(Instant now) {
  for (; !idle_.empty() && due(sent_) <= now; ++sent_) {
    Connection& connection = *idle_.back();
    idle_.pop_back();
    if (!connection.socket.send(request_)) return false;
  }
  return true;
}

// Until a socket is readable or the next request is due, whichever comes first.
int Http1Floor::wait() {
  const Nanos left =
      options_.rate > 0 && !idle_.empty() ? std::max(due(sent_) - Clock::now(), Nanos{0}) : Nanos{kPatience};
  const timespec timeout{.tv_sec = static_cast<time_t>(left.count() / 1'000'000'000),
                         .tv_nsec = left.count() % 1'000'000'000};
  return epoll_pwait2(epoll_, events_.data(), static_cast<int>(events_.size()), &timeout, nullptr);
}

bool Http1Floor::on_readable(Connection& connection) {
  for (;;) {
    const ssize_t size = connection.socket.receive(received_);
    if (size <= 0) return size == 0;
    const auto count = static_cast<std::size_t>(size);
    if (answer_size_ == 0 && !learn_answer_size(count)) return false;
    connection.received += count;
    if (connection.received >= answer_size_) {
      connection.received = 0;
      ++done_;
      if (options_.rate == 0) return connection.socket.send(request_);
      idle_.push_back(&connection);
      return true;
    }
    // The socket is empty: the next bytes make the next event. OpenSSL may hold records that no event will announce.
    if (!connection.socket.may_hold_more(size, received_.size())) return true;
  }
}

bool Http1Floor::learn_answer_size(std::size_t received) {
  const std::string_view answer{received_.data(), received};
  constexpr std::string_view kField = "Content-Length: ";
  const std::size_t field = answer.find(kField);
  const std::size_t end = answer.find("\r\n\r\n");
  if (field == answer.npos || end == answer.npos) return false;
  std::uint64_t body = 0;
  std::from_chars(answer.data() + field + kField.size(), answer.data() + end, body);
  answer_size_ = end + 4 + body;
  return true;
}

void print(const FloorLoad& load, const ProcessUsage& before) {
  const ProcessUsage after = process_usage();
  const double seconds = static_cast<double>(load.elapsed().count()) / 1e9;
  const double done = static_cast<double>(std::max<std::uint64_t>(load.done(), 1));
  std::printf(
      "{\"requests\":%llu,\"seconds\":%.3f,\"rate\":%.0f,\"cpu_us_per_request\":%.3f,\"user_us\":%.3f,"
      "\"system_us\":%.3f,\"peak_rss_kb\":%llu}\n",
      static_cast<unsigned long long>(load.done()), seconds, static_cast<double>(load.done()) / seconds,
      (after.cpu_seconds() - before.cpu_seconds()) * 1e6 / done,
      (after.user_seconds - before.user_seconds) * 1e6 / done,
      (after.system_seconds - before.system_seconds) * 1e6 / done, static_cast<unsigned long long>(after.peak_rss_kb));
}

int fail(const Error& error) {
  std::fprintf(stderr, "floor: %s\n", error.text().c_str());
  return 2;
}

int floor_main(int argc, char** argv) {
  FloorOptions options;
  std::uint64_t core = UINT64_MAX;
  Flags flags;
  flags.add("port", &options.port, "port of the server on 127.0.0.1");
  flags.add("connections", &options.connections, "connections, each with one request under way (64)");
  flags.add("streams", &options.streams, "HTTP/2, with so many streams on each connection; 0: HTTP/1.1 (0)");
  flags.add("duration", &options.duration, "how long (5s)");
  flags.add("requests", &options.requests, "how many, instead of how long");
  flags.add("rate", &options.rate, "requests a second, as far as there are connections; 0: as many as possible (0)");
  flags.add("tls", &options.tls, "HTTPS");
  flags.add("cpu", &core, "core to stay on");
  if (const auto parsed = flags.parse(argc, argv); !parsed) return fail(parsed.error());
  raise_limits();
  std::signal(SIGPIPE, SIG_IGN);
  if (core != UINT64_MAX)
    if (const auto pinned = pin_to_cpu(core); !pinned) return fail(pinned.error());

  const std::unique_ptr<FloorLoad> load =
      options.streams > 0 ? make_http2_floor(options) : std::make_unique<Http1Floor>(options);
  if (const auto connected = load->connect_all(); !connected) return fail(connected.error());
  const ProcessUsage before = process_usage();
  if (const auto ran = load->run(); !ran) return fail(ran.error());
  print(*load, before);
  return 0;
}

}  // namespace
}  // namespace pepe

int main(int argc, char** argv) { return pepe::floor_main(argc, argv); }
