#include "support/test_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <optional>

namespace pepe {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

/// Reads requests off a socket, one after another.
class RequestReader {
 public:
  explicit RequestReader(int socket) : socket_{socket} {}

  std::optional<TestRequest> next() {
    const auto head = take_until("\r\n\r\n");
    if (!head) return std::nullopt;
    TestRequest request;
    std::string_view rest = *head;
    const std::string line = take_line(rest);
    const std::size_t first = line.find(' ');
    const std::size_t last = line.rfind(' ');
    if (first == std::string::npos || last == first) return std::nullopt;
    request.method = line.substr(0, first);
    request.target = line.substr(first + 1, last - first - 1);
    while (!rest.empty()) request.headers.push_back(take_line(rest));
    if (!read_body(request)) return std::nullopt;
    return request;
  }

 private:
  static std::string take_line(std::string_view& text) {
    const std::size_t end = text.find(kLineEnd);
    const std::string line{text.substr(0, end)};
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + kLineEnd.size());
    return line;
  }

  bool fill() {
    std::array<char, 16 * 1024> buffer{};
    const ssize_t got = ::recv(socket_, buffer.data(), buffer.size(), 0);
    if (got > 0) bytes_.append(buffer.data(), static_cast<std::size_t>(got));
    return got > 0;
  }

  /// What stands before `mark`, which is taken as well.
  std::optional<std::string> take_until(std::string_view mark) {
    std::size_t at = 0;
    while ((at = bytes_.find(mark)) == std::string::npos) {
      if (!fill()) return std::nullopt;
    }
    std::string text = bytes_.substr(0, at);
    bytes_.erase(0, at + mark.size());
    return text;
  }

  std::optional<std::string> take(std::size_t size) {
    while (bytes_.size() < size) {
      if (!fill()) return std::nullopt;
    }
    std::string text = bytes_.substr(0, size);
    bytes_.erase(0, size);
    return text;
  }

  bool read_body(TestRequest& request) {
    if (request.header("Transfer-Encoding") == "chunked") return read_chunks(request);
    const std::string length = request.header("Content-Length");
    if (length.empty()) return true;
    auto body = take(std::stoul(length));
    if (body) request.body = *std::move(body);
    return body.has_value();
  }

  bool read_chunks(TestRequest& request) {
    while (true) {
      const auto line = take_until(kLineEnd);
      if (!line) return false;
      std::size_t size = 0;
      std::from_chars(line->data(), line->data() + line->size(), size, 16);
      const auto chunk = take(size + kLineEnd.size());
      if (!chunk) return false;
      if (size == 0) return true;
      request.body += chunk->substr(0, size);
    }
  }

  int socket_;
  std::string bytes_;
};

std::string message_of(const TestAnswer& answer, bool with_body) {
  std::string message = fmt::format("HTTP/1.1 {} {}\r\n", answer.status, answer.reason);
  for (const std::string& header : answer.headers) message += header + "\r\n";
  if (answer.close) message += "Connection: close\r\n";
  if (!answer.chunked) {
    message += fmt::format("Content-Length: {}\r\n\r\n{}", answer.body.size(), with_body ? answer.body : "");
  } else if (answer.body.empty()) {
    message += "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
  } else {
    message +=
        fmt::format("Transfer-Encoding: chunked\r\n\r\n{:x}\r\n{}\r\n0\r\n\r\n", answer.body.size(), answer.body);
  }
  return message;
}

bool send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

}  // namespace

std::string TestRequest::header(std::string_view name) const {
  for (const std::string& line : headers) {
    const std::size_t colon = line.find(':');
    if (colon != name.size() || ::strncasecmp(line.data(), name.data(), colon) != 0) continue;
    const std::size_t start = line.find_first_not_of(' ', colon + 1);
    return start == std::string::npos ? "" : line.substr(start);
  }
  return {};
}

TestServer::TestServer(Script script) : script_{std::move(script)} {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener_, generic, size) != 0 || ::listen(listener_, 1024) != 0) std::abort();
  ::getsockname(listener_, generic, &size);
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread{[this] { accept_connections(); }};
}

TestServer::~TestServer() {
  {
    const std::lock_guard lock{mutex_};
    stopping_ = true;
    for (const int socket : sockets_) ::shutdown(socket, SHUT_RDWR);
  }
  changed_.notify_all();
  ::shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  for (std::thread& thread : threads_) thread.join();
  for (const int socket : sockets_) ::close(socket);
  ::close(listener_);
}

std::string TestServer::url(std::string_view path) const { return fmt::format("http://127.0.0.1:{}{}", port_, path); }

std::vector<TestRequest> TestServer::requests() const {
  const std::lock_guard lock{mutex_};
  return requests_;
}

std::size_t TestServer::connections() const {
  const std::lock_guard lock{mutex_};
  return sockets_.size();
}

bool TestServer::wait_for_requests(std::size_t count) const {
  std::unique_lock lock{mutex_};
  return changed_.wait_for(lock, std::chrono::seconds{60}, [&] { return requests_.size() >= count; });
}

void TestServer::accept_connections() {
  while (true) {
    const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    const std::lock_guard lock{mutex_};
    if (stopping_ || socket < 0) {
      if (socket >= 0) ::close(socket);
      return;
    }
    // Closed only by the destructor, so that no number is used twice while it may still be shut down.
    sockets_.push_back(socket);
    threads_.emplace_back([this, socket] { serve(socket); });
  }
}

void TestServer::serve(int socket) {
  RequestReader reader{socket};
  while (auto request = reader.next()) {
    {
      const std::lock_guard lock{mutex_};
      requests_.push_back(*request);
    }
    changed_.notify_all();
    if (!answer(socket, *request)) break;
  }
  ::shutdown(socket, SHUT_RDWR);
}

bool TestServer::answer(int socket, const TestRequest& request) {
  const TestAnswer answer = script_ ? script_(request) : TestAnswer{};
  if (answer.delay.count() > 0) {
    std::unique_lock lock{mutex_};
    if (changed_.wait_for(lock, answer.delay, [this] { return stopping_; })) return false;
  }
  if (answer.drop) return false;
  return send_all(socket, message_of(answer, request.method != "HEAD")) && !answer.close;
}

}  // namespace pepe
