#include "bench/floor_socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace pepe {

FloorSocket::~FloorSocket() {
  tls_.reset();
  if (fd_ >= 0) close(fd_);
}

Expected<void> FloorSocket::connect(std::uint16_t port, SSL_CTX* tls, int epoll, void* owner) {
  fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd_ < 0) return system_error("socket", errno);
  sockaddr_in address{
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
  if (::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return system_error("connect", errno);
  const int on = 1;
  setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (tls != nullptr) {
    tls_.reset(SSL_new(tls));
    SSL_set_fd(tls_.get(), fd_);
    if (SSL_connect(tls_.get()) != 1) return Error{"TLS handshake failed"};
  }
  fcntl(fd_, F_SETFL, O_NONBLOCK);
  epoll_event event{.events = EPOLLIN | EPOLLET, .data = {.ptr = owner}};
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd_, &event) != 0) return system_error("epoll", errno);
  return {};
}

bool FloorSocket::send(std::string_view bytes) {
  const auto size = static_cast<ssize_t>(bytes.size());
  if (tls_) return SSL_write(tls_.get(), bytes.data(), static_cast<int>(size)) == size;
  return ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL) == size;
}

ssize_t FloorSocket::receive(std::span<char> buffer) {
  if (tls_) {
    const int size = SSL_read(tls_.get(), buffer.data(), static_cast<int>(buffer.size()));
    if (size > 0) return size;
    return SSL_get_error(tls_.get(), size) == SSL_ERROR_WANT_READ ? 0 : -1;
  }
  const ssize_t size = recv(fd_, buffer.data(), buffer.size(), 0);
  if (size < 0) return errno == EAGAIN || errno == EINTR ? 0 : -1;
  return size == 0 ? -1 : size;
}

}  // namespace pepe
