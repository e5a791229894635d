#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "pepe/base/time.h"

namespace pepe {

/// A request as the server read it.
struct TestRequest {
  std::string method;
  std::string target;
  std::vector<std::string> headers;  ///< "Name: value", as sent.
  std::string body;

  /// The value of the first header called `name`, in any case; empty when there is none.
  std::string header(std::string_view name) const;
};

/// What the server does with a request.
struct TestAnswer {
  int status{200};
  std::string reason{"OK"};
  std::string body{"ok"};
  std::vector<std::string> headers{};  ///< "Name: value".
  Nanos delay{0};                      ///< Before the first byte.
  bool chunked{false};
  bool close{false};  ///< Says so, and closes after the answer.
  bool drop{false};   ///< Closes without an answer.
};

/// A small HTTP/1.1 server on 127.0.0.1 for tests: a thread for each connection, answers from a script.
class TestServer {
 public:
  using Script = std::function<TestAnswer(const TestRequest& request)>;

  /// `script` runs on the connections' threads; without one every answer is `ok`.
  explicit TestServer(Script script = {});
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;
  ~TestServer();

  std::uint16_t port() const noexcept { return port_; }
  /// "http://127.0.0.1:PORT" and `path`.
  std::string url(std::string_view path = "/") const;

  std::vector<TestRequest> requests() const;
  std::size_t connections() const;
  /// Waits until `count` requests were read. False when that takes unreasonably long.
  bool wait_for_requests(std::size_t count) const;

 private:
  void accept_connections();
  void serve(int socket);
  bool answer(int socket, const TestRequest& request);

  Script script_;
  int listener_{-1};
  std::uint16_t port_{0};
  mutable std::mutex mutex_;  ///< Over all below.
  mutable std::condition_variable changed_;
  std::vector<TestRequest> requests_;
  std::vector<int> sockets_;
  std::vector<std::thread> threads_;
  bool stopping_{false};
  std::thread acceptor_;
};

}  // namespace pepe
