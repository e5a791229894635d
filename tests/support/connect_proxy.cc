#include "support/connect_proxy.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string_view>

namespace pepe {
namespace {

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

std::string read_head(int fd) {
  std::string head;
  char byte = 0;
  while (!head.ends_with("\r\n\r\n") && ::recv(fd, &byte, 1, 0) == 1) head += byte;
  return head;
}

/// Passes bytes on in both directions until either side ends.
void relay(int one, int other) {
  std::array<char, 16384> buffer;
  std::array<pollfd, 2> ends{{{one, POLLIN, 0}, {other, POLLIN, 0}}};
  for (;;) {
    ::poll(ends.data(), ends.size(), -1);
    for (std::size_t i = 0; i < ends.size(); ++i) {
      if (ends[i].revents == 0) continue;
      const ssize_t got = ::recv(ends[i].fd, buffer.data(), buffer.size(), 0);
      if (got <= 0) return;
      ::send(ends[1 - i].fd, buffer.data(), static_cast<std::size_t>(got), MSG_NOSIGNAL);
    }
  }
}

}  // namespace

ConnectProxy::ConnectProxy() : listener_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(listener_, 100) != 0)
    std::abort();
  ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread{[this] { accept_clients(); }};
}

ConnectProxy::~ConnectProxy() {
  ::shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  for (std::thread& thread : threads_) thread.join();
  ::close(listener_);
}

std::vector<std::string> ConnectProxy::requests() const {
  const std::lock_guard lock{mutex_};
  return requests_;
}

void ConnectProxy::accept_clients() {
  for (;;) {
    const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) return;
    threads_.emplace_back([this, client] { serve(client); });
  }
}

void ConnectProxy::serve(int client) {
  const std::string head = read_head(client);
  {
    const std::lock_guard lock{mutex_};
    requests_.push_back(head);
  }
  const std::string authority = head.substr(0, head.find(" HTTP/"));
  const auto port = static_cast<std::uint16_t>(std::atoi(authority.substr(authority.rfind(':') + 1).c_str()));
  const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(port);
  if (::connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    constexpr std::string_view kAnswer = "HTTP/1.1 200 Connection established\r\n\r\n";
    ::send(client, kAnswer.data(), kAnswer.size(), MSG_NOSIGNAL);
    relay(client, server);
  }
  ::close(server);
  ::close(client);
}

}  // namespace pepe
