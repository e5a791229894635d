#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string_view>

#include "bench/tls.h"
#include "pepe/base/expected.h"

namespace pepe {

/// A connection to 127.0.0.1, plain or through OpenSSL with read-ahead. Not thread-safe.
class FloorSocket {
 public:
  FloorSocket() = default;
  FloorSocket(const FloorSocket&) = delete;
  ~FloorSocket();

  /// Connects and shakes hands in blocking mode, which is simple and not measured; then `epoll` tells of it, edge by
  /// edge, by the name of `owner`. `tls`: nullptr for a plain connection.
  Expected<void> connect(std::uint16_t port, SSL_CTX* tls, int epoll, void* owner);
  /// False: not all of it was sent.
  bool send(std::string_view bytes);
  /// Bytes; 0: nothing there for now; below 0: the end.
  ssize_t receive(std::span<char> buffer);
  /// Bytes may be left that no event will announce, after a receive() of `size` into a buffer of `room`.
  bool may_hold_more(ssize_t size, std::size_t room) const noexcept {
    return tls_ != nullptr || static_cast<std::size_t>(size) == room;
  }

 private:
  int fd_{-1};
  TlsHandle tls_;
};

}  // namespace pepe
