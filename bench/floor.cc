// The limit that load generators are compared with: one send and one recv per request over edge-triggered epoll, plain
// or through OpenSSL with read-ahead. Nothing is parsed but the first answer's length, and nothing is recorded.
// At a rate it sleeps in epoll until a request is due, and in no other way: no spinning, however late that makes it.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fcntl.h>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <memory>
#include <vector>

#include "bench/flags.h"
#include "bench/process.h"
#include "bench/tls.h"

namespace pepe {
namespace {

constexpr std::size_t kReadBytes = 256 * 1024;
constexpr std::chrono::seconds kPatience{1};

struct FloorOptions {
  std::uint64_t port{0};
  std::uint64_t connections{64};
  Nanos duration{std::chrono::seconds{5}};
  std::uint64_t requests{0};  ///< 0: until the duration is over.
  std::uint64_t rate{0};      ///< Requests a second; 0: each connection sends as soon as it has its answer.
  bool tls{false};
};

class Floor {
 public:
  explicit Floor(FloorOptions options);
  ~Floor();
  Floor(const Floor&) = delete;
  Floor& operator=(const Floor&) = delete;

  Expected<void> connect_all();
  Expected<void> run();
  void print(const ProcessUsage& before) const;

 private:
  struct Connection {
    int fd{-1};
    TlsHandle tls;
    std::uint64_t received{0};  ///< Bytes of the answer that is arriving.
  };

  Expected<void> connect_one(Connection& connection);
  bool start_requests();
  Instant due(std::uint64_t number) const;
  bool send_due(Instant now);
  int wait();
  bool send_request(Connection& connection);
  ssize_t receive(Connection& connection);
  bool on_readable(Connection& connection);
  bool learn_answer_size(std::size_t received);

  FloorOptions options_;
  TlsContext tls_;
  std::string request_;
  std::vector<Connection> connections_;
  std::vector<Connection*> idle_;  ///< At a rate: those without a request under way.
  std::vector<epoll_event> events_;
  std::vector<char> received_;
  std::uint64_t answer_size_{0};  ///< Head and body; 0: the first answer has not come yet.
  std::uint64_t done_{0};
  std::uint64_t sent_{0};  ///< At a rate.
  Instant start_{};
  Nanos elapsed_{0};
  int epoll_{-1};
};

Floor::Floor(FloorOptions options)
    : options_{options},
      request_{"GET / HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(options.port) + "\r\n\r\n"},
      connections_(options.connections),
      events_(512),
      received_(kReadBytes) {}

Floor::~Floor() {
  for (const Connection& connection : connections_)
    if (connection.fd >= 0) close(connection.fd);
  if (epoll_ >= 0) close(epoll_);
}

Expected<void> Floor::connect_all() {
  if (options_.port == 0 || options_.port > UINT16_MAX) return Error{"-port is needed"};
  if (options_.connections == 0) return Error{"-connections is 0"};
  if (options_.rate > 0 && options_.tls) return Error{"-rate goes without -tls"};
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ < 0) return system_error("epoll", errno);
  if (options_.tls) {
    auto context = make_client_context();
    if (!context) return std::move(context).error();
    tls_ = std::move(context).value();
  }
  for (Connection& connection : connections_)
    if (auto connected = connect_one(connection); !connected) return connected;
  return {};
}

// Connects and shakes hands in blocking mode, which is simple and not measured.
Expected<void> Floor::connect_one(Connection& connection) {
  connection.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connection.fd < 0) return system_error("socket", errno);
  sockaddr_in address{.sin_family = AF_INET,
                      .sin_port = htons(static_cast<std::uint16_t>(options_.port)),
                      .sin_addr = {htonl(INADDR_LOOPBACK)},
                      .sin_zero = {}};
  if (connect(connection.fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return system_error("connect", errno);
  const int on = 1;
  setsockopt(connection.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (tls_) {
    connection.tls.reset(SSL_new(tls_.get()));
    SSL_set_fd(connection.tls.get(), connection.fd);
    if (SSL_connect(connection.tls.get()) != 1) return Error{"TLS handshake failed"};
  }
  fcntl(connection.fd, F_SETFL, O_NONBLOCK);
  epoll_event event{.events = EPOLLIN | EPOLLET, .data = {.ptr = &connection}};
  if (epoll_ctl(epoll_, EPOLL_CTL_ADD, connection.fd, &event) != 0) return system_error("epoll", errno);
  return {};
}

Expected<void> Floor::run() {
  start_ = Clock::now();
  if (!start_requests()) return Error{"send failed"};
  for (;;) {
    const Instant now = Clock::now();
    elapsed_ = now - start_;
    if (options_.requests > 0 ? done_ >= options_.requests : elapsed_ >= options_.duration) return {};
    if (options_.rate > 0 && !send_due(now)) return Error{"send failed"};
    const int count = wait();
    for (int i = 0; i < count; ++i)
      if (!on_readable(*static_cast<Connection*>(events_[static_cast<std::size_t>(i)].data.ptr)))
        return Error{"the connection was closed"};
  }
}

bool Floor::start_requests() {
  for (Connection& connection : connections_) {
    if (options_.rate > 0)
      idle_.push_back(&connection);
    else if (!send_request(connection))
      return false;
  }
  return true;
}

Instant Floor::due(std::uint64_t number) const {
  return start_ + Nanos{static_cast<std::int64_t>(number * 1'000'000'000 / options_.rate)};
}

bool Floor::send_due(Instant now) {
  for (; !idle_.empty() && due(sent_) <= now; ++sent_) {
    Connection& connection = *idle_.back();
    idle_.pop_back();
    if (!send_request(connection)) return false;
  }
  return true;
}

// Until a socket is readable or the next request is due, whichever comes first.
int Floor::wait() {
  const Nanos left =
      options_.rate > 0 && !idle_.empty() ? std::max(due(sent_) - Clock::now(), Nanos{0}) : Nanos{kPatience};
  const timespec timeout{.tv_sec = static_cast<time_t>(left.count() / 1'000'000'000),
                         .tv_nsec = left.count() % 1'000'000'000};
  return epoll_pwait2(epoll_, events_.data(), static_cast<int>(events_.size()), &timeout, nullptr);
}

bool Floor::send_request(Connection& connection) {
  const ssize_t size = static_cast<ssize_t>(request_.size());
  if (connection.tls) return SSL_write(connection.tls.get(), request_.data(), static_cast<int>(size)) == size;
  return send(connection.fd, request_.data(), request_.size(), MSG_NOSIGNAL) == size;
}

// 0: nothing there for now; below 0: the end.
ssize_t Floor::receive(Connection& connection) {
  if (connection.tls) {
    const int size = SSL_read(connection.tls.get(), received_.data(), static_cast<int>(received_.size()));
    if (size > 0) return size;
    return SSL_get_error(connection.tls.get(), size) == SSL_ERROR_WANT_READ ? 0 : -1;
  }
  const ssize_t size = recv(connection.fd, received_.data(), received_.size(), 0);
  if (size < 0) return errno == EAGAIN || errno == EINTR ? 0 : -1;
  return size == 0 ? -1 : size;
}

bool Floor::on_readable(Connection& connection) {
  for (;;) {
    const ssize_t size = receive(connection);
    if (size <= 0) return size == 0;
    const auto count = static_cast<std::size_t>(size);
    if (answer_size_ == 0 && !learn_answer_size(count)) return false;
    connection.received += count;
    if (connection.received >= answer_size_) {
      connection.received = 0;
      ++done_;
      if (options_.rate == 0) return send_request(connection);
      idle_.push_back(&connection);
      return true;
    }
    // The socket is empty: the next bytes make the next event. OpenSSL may hold records that no event will announce.
    if (!connection.tls && count < received_.size()) return true;
  }
}

bool Floor::learn_answer_size(std::size_t received) {
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

void Floor::print(const ProcessUsage& before) const {
  const ProcessUsage after = process_usage();
  const double seconds = static_cast<double>(elapsed_.count()) / 1e9;
  const double done = static_cast<double>(done_ > 0 ? done_ : 1);
  std::printf(
      "{\"requests\":%llu,\"seconds\":%.3f,\"rate\":%.0f,\"cpu_us_per_request\":%.3f,\"user_us\":%.3f,"
      "\"system_us\":%.3f,\"peak_rss_kb\":%llu}\n",
      static_cast<unsigned long long>(done_), seconds, static_cast<double>(done_) / seconds,
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

  Floor floor{options};
  if (const auto connected = floor.connect_all(); !connected) return fail(connected.error());
  const ProcessUsage before = process_usage();
  if (const auto ran = floor.run(); !ran) return fail(ran.error());
  floor.print(before);
  return 0;
}

}  // namespace
}  // namespace pepe

int main(int argc, char** argv) { return pepe::floor_main(argc, argv); }
