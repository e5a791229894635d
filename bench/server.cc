// HOT: on_event and what it calls, once per request. No allocation once a connection is warm.
#include "bench/server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <string>
#include <utility>

namespace pepe {
namespace {

constexpr std::size_t kReadBytes = 256 * 1024;
constexpr std::size_t kBatchBytes = 64 * 1024;
constexpr std::size_t kMaxBatch = 64;
constexpr std::size_t kNumberDigits = 16;
constexpr std::uint32_t kAtEnd = EPOLLRDHUP | EPOLLHUP | EPOLLERR;

std::string make_answer(std::uint64_t size) {
  std::string answer =
      "HTTP/1.1 200 OK\r\nServer: bench\r\nContent-Type: text/plain\r\nContent-Length: " + std::to_string(size) +
      "\r\n\r\n";
  for (std::uint64_t i = 0; i < size; ++i) answer.push_back(static_cast<char>('a' + i % 26));
  return answer;
}

Expected<std::uint16_t> bound_port(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return system_error("getsockname", errno);
  return ntohs(reinterpret_cast<const sockaddr_in*>(&address)->sin_port);  // at the same place for IPv6
}

}  // namespace

Server::Server(ServerOptions options)
    : options_{std::move(options)}, answer_{make_answer(options_.size)}, received_(kReadBytes), plaintext_(kReadBytes) {
  body_at_ = answer_.size() - options_.size;
  body_ = std::string_view{answer_}.substr(body_at_);
  const std::size_t copies = std::clamp<std::size_t>(kBatchBytes / answer_.size(), 1, kMaxBatch);
  for (std::size_t i = 0; i < copies; ++i) answers_ += answer_;
}

Server::~Server() {
  for (const auto& connection : connections_)
    if (connection) close(connection->fd);
  for (const int listener : listeners_) close(listener);
  if (epoll_ >= 0) close(epoll_);
}

Expected<void> Server::listen() {
  if (options_.port > UINT16_MAX) return Error{"no such port: " + std::to_string(options_.port)};
  if (options_.unique && options_.size < kNumberDigits) return Error{"-unique needs a -size of 16 or more"};
  if (options_.unique && options_.http2) return Error{"-unique is for HTTP/1.1, without -http2"};
  if (options_.streams > INT32_MAX)
    return Error{"no connection has so many streams: " + std::to_string(options_.streams)};
  if (options_.tls) {
    auto context = make_server_context(options_.pem_file, options_.http2);
    if (!context) return std::move(context).error();
    tls_ = std::move(context).value();
  }
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ < 0) return system_error("epoll", errno);
  auto v4 = open_listener(AF_INET, static_cast<std::uint16_t>(options_.port));
  if (!v4) return std::move(v4).error();
  auto port = bound_port(*v4);
  if (!port) return std::move(port).error();
  port_ = *port;
  // A machine without IPv6, or with the port taken there, is attacked over IPv4 alone.
  static_cast<void>(open_listener(AF_INET6, port_));
  return {};
}

Expected<int> Server::open_listener(int family, std::uint16_t port) {
  const int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return system_error("socket", errno);
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in v4{.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  v6.sin6_addr = in6addr_loopback;
  const auto* address =
      family == AF_INET ? reinterpret_cast<const sockaddr*>(&v4) : reinterpret_cast<const sockaddr*>(&v6);
  epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
  if (bind(fd, address, family == AF_INET ? sizeof v4 : sizeof v6) != 0 || ::listen(fd, SOMAXCONN) != 0 ||
      epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) != 0) {
    const int cause = errno;
    close(fd);
    return system_error("listen on port " + std::to_string(port), cause);
  }
  listeners_.push_back(fd);
  return fd;
}

Expected<void> Server::run(int stop) {
  epoll_event stop_event{.events = EPOLLIN, .data = {.fd = stop}};
  if (epoll_ctl(epoll_, EPOLL_CTL_ADD, stop, &stop_event) != 0) return system_error("epoll", errno);
  std::vector<epoll_event> events(512);
  for (;;) {
    timespec wait{};
    if (!delayed_.empty()) {
      const Nanos left = std::max(delayed_.front().due - Clock::now(), Nanos{0});
      wait = {.tv_sec = static_cast<time_t>(left.count() / 1'000'000'000), .tv_nsec = left.count() % 1'000'000'000};
    }
    const int count = epoll_pwait2(epoll_, events.data(), static_cast<int>(events.size()),
                                   delayed_.empty() ? nullptr : &wait, nullptr);
    for (int i = 0; i < count; ++i) {
      const epoll_event& event = events[static_cast<std::size_t>(i)];
      if (event.data.fd == stop) return {};
      on_event(event.data.fd, event.events);
    }
    if (!delayed_.empty()) on_due(Clock::now());
  }
}

void Server::on_event(int fd, std::uint32_t events) {
  if (std::find(listeners_.begin(), listeners_.end(), fd) != listeners_.end()) return on_listener(fd);
  Connection* connection = connections_[static_cast<std::size_t>(fd)].get();
  if (connection == nullptr) return;
  if ((events & EPOLLOUT) != 0 && connection->owed > 0 && !flush(*connection)) return close_connection(*connection);
  if ((events & (EPOLLIN | kAtEnd)) != 0) on_readable(*connection, (events & kAtEnd) != 0);
}

void Server::on_listener(int listener) {
  for (;;) {
    const int fd = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    const auto slot = static_cast<std::size_t>(fd);
    if (slot >= connections_.size()) connections_.resize(slot + 1);
    connections_[slot] = std::make_unique<Connection>(fd);
    Connection& connection = *connections_[slot];
    connection.number = ++accepted_;
    if (tls_) connection.tls = std::make_unique<TlsStream>(tls_.get(), fd);
    epoll_event event{.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data = {.fd = fd}};
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) != 0) close_connection(connection);
  }
}

// A recv that did not fill the buffer has emptied the socket: the next byte makes the next event, and one more recv to
// hear EAGAIN is saved. Only the end of a connection is not announced twice, so `at_end` reads up to it.
void Server::on_readable(Connection& connection, bool at_end) {
  for (;;) {
    const ssize_t size = recv(connection.fd, received_.data(), received_.size(), 0);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) return;
    if (size <= 0) return close_connection(connection);
    const std::string_view bytes{received_.data(), static_cast<std::size_t>(size)};
    if (!on_received(connection, bytes)) return close_connection(connection);
    if (bytes.size() < received_.size() && !at_end) return;
  }
}

bool Server::on_received(Connection& connection, std::string_view bytes) {
  if (!connection.tls) return on_request_bytes(connection, bytes);
  connection.tls->feed(bytes);
  for (;;) {
    const int size = connection.tls->read(plaintext_.data(), static_cast<int>(plaintext_.size()));
    if (size < 0) return false;
    if (size == 0) return true;
    if (!on_request_bytes(connection, {plaintext_.data(), static_cast<std::size_t>(size)})) return false;
  }
}

bool Server::on_request_bytes(Connection& connection, std::string_view bytes) {
  if (options_.http2 && !std::exchange(connection.has_received, true) &&
      bytes.starts_with(kHttp2Preface.substr(0, 4))) {
    connection.http2 =
        std::make_unique<Http2Answers>(body_, static_cast<std::uint32_t>(options_.streams), connection.own_answers);
    connection.owed = connection.own_answers.size();
  }
  if (connection.http2) return on_http2_bytes(connection, bytes);
  const auto count = connection.scanner.feed(bytes);
  return count && on_requests(connection, *count);
}

bool Server::on_http2_bytes(Connection& connection, std::string_view bytes) {
  start_own_answers(connection);
  const std::size_t before = connection.own_answers.size();
  const auto count = connection.http2->feed(bytes, connection.own_answers);
  connection.owed += connection.own_answers.size() - before;
  if (!count || !on_requests(connection, *count)) return false;
  return connection.owed == 0 || flush(connection);
}

bool Server::on_requests(Connection& connection, std::uint32_t count) {
  if (count == 0) return true;
  requests_ += count;
  if (options_.delay <= Nanos{0}) return answer(connection, count);
  delayed_.push_back({Clock::now() + options_.delay, connection.fd, connection.number, count});
  return true;
}

void Server::on_due(Instant now) {
  while (!delayed_.empty() && delayed_.front().due <= now) {
    const Delayed delayed = delayed_.front();
    delayed_.pop_front();
    Connection* connection = connections_[static_cast<std::size_t>(delayed.fd)].get();
    if (connection == nullptr || connection->number != delayed.number) continue;
    if (!answer(*connection, delayed.count)) close_connection(*connection);
  }
}

bool Server::answer(Connection& connection, std::uint32_t count) {
  const bool idle = connection.owed == 0;
  if (has_own_answers(connection)) start_own_answers(connection);
  const std::size_t before = connection.own_answers.size();
  if (connection.http2) {
    connection.http2->answer(count, connection.own_answers);
    connection.owed += connection.own_answers.size() - before;
  } else {
    if (options_.unique) append_unique_answers(connection, count);
    connection.owed += count * answer_.size();
  }
  // A socket that is full says when it is not; until then sending again is wasted.
  return idle ? flush(connection) : true;
}

bool Server::has_own_answers(const Connection& connection) const { return options_.unique || connection.http2; }

void Server::start_own_answers(Connection& connection) const {
  if (connection.owed > 0) return;
  connection.own_answers.clear();
  connection.offset = 0;
}

void Server::append_unique_answers(Connection& connection, std::uint32_t count) {
  for (std::uint64_t number = requests_ - count; number < requests_; ++number) {
    const std::size_t body = connection.own_answers.size() + body_at_;
    connection.own_answers += answer_;
    for (std::size_t digit = 0; digit < kNumberDigits; ++digit)
      connection.own_answers[body + digit] = "0123456789abcdef"[(number >> (60 - 4 * digit)) & 15];
  }
}

std::string_view Server::next_bytes(const Connection& connection) const {
  const std::string& from = has_own_answers(connection) ? connection.own_answers : answers_;
  return std::string_view{from}.substr(connection.offset, connection.owed);
}

bool Server::flush(Connection& connection) {
  while (connection.owed > 0) {
    const std::string_view bytes = next_bytes(connection);
    ssize_t sent = 0;
    if (connection.tls) {
      sent = connection.tls->write(bytes);
      if (sent <= 0) return sent == 0;
    } else {
      sent = send(connection.fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0) return errno == EAGAIN || errno == EINTR;
    }
    connection.owed -= static_cast<std::uint64_t>(sent);
    connection.offset += static_cast<std::size_t>(sent);
    if (!has_own_answers(connection) && connection.offset == answers_.size()) connection.offset = 0;
  }
  // The next answer starts at a copy's start, wherever that is: the first one keeps it in the cache.
  connection.offset = 0;
  return true;
}

void Server::close_connection(Connection& connection) {
  const int fd = connection.fd;
  connections_[static_cast<std::size_t>(fd)].reset();
  close(fd);
}

}  // namespace pepe
