#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace pepe {

/// An HTTP proxy on 127.0.0.1 for tests that knows CONNECT alone, and connects to 127.0.0.1 whatever the host's name.
class ConnectProxy {
 public:
  ConnectProxy();
  ConnectProxy(const ConnectProxy&) = delete;
  ConnectProxy& operator=(const ConnectProxy&) = delete;
  ~ConnectProxy();

  std::uint16_t port() const noexcept { return port_; }
  /// The heads of the requests, as they came.
  std::vector<std::string> requests() const;

 private:
  void accept_clients();
  void serve(int client);

  int listener_{-1};
  std::uint16_t port_{0};
  mutable std::mutex mutex_;  // over all below
  std::vector<std::string> requests_;
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

}  // namespace pepe
