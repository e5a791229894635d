#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/http2_answers.h"
#include "bench/request_scanner.h"
#include "bench/tls.h"
#include "pepe/base/expected.h"
#include "pepe/base/time.h"

namespace pepe {

struct ServerOptions {
  std::uint64_t port{0};  ///< 0: the system picks one.
  std::uint64_t size{128};
  Nanos delay{0};
  bool unique{false};  ///< Every body starts with a number of its own.
  bool tls{false};
  bool http2{false};           ///< HTTP/2, where a client asks for it: by ALPN, or by its first bytes without TLS.
  std::uint64_t streams{100};  ///< Streams of such a connection at a time.
  std::string pem_file;
};

/// Answers every request on the loopback addresses from memory, on one thread: one recv and one send per request, so
/// that the client beside it is what is measured.
class Server {
 public:
  explicit Server(ServerOptions options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Listens on 127.0.0.1, and on ::1 where there is one.
  Expected<void> listen();
  std::uint16_t port() const noexcept { return port_; }
  /// Answers until there is something to read from the descriptor `stop`.
  Expected<void> run(int stop);

  std::uint64_t requests() const noexcept { return requests_; }
  std::uint64_t connections() const noexcept { return accepted_; }

 private:
  struct Connection {
    explicit Connection(int descriptor) : fd{descriptor} {}
    int fd;
    std::uint64_t number{0};  ///< Tells apart connections that had the same descriptor.
    std::unique_ptr<TlsStream> tls;
    RequestScanner scanner;
    std::unique_ptr<Http2Answers> http2;
    bool has_received{false};
    std::uint64_t owed{0};    ///< Bytes of answers that the socket has not taken yet.
    std::size_t offset{0};    ///< Where the next of them is in `own_answers`, or in the server's answers_.
    std::string own_answers;  ///< Used where they differ from those of other connections.
  };
  struct Delayed {
    Instant due;
    int fd;
    std::uint64_t number;
    std::uint32_t count;
  };

  Expected<int> open_listener(int family, std::uint16_t port);
  void on_event(int fd, std::uint32_t events);
  void on_listener(int listener);
  void on_readable(Connection& connection, bool at_end);
  bool on_received(Connection& connection, std::string_view bytes);
  bool on_request_bytes(Connection& connection, std::string_view bytes);
  bool on_requests(Connection& connection, std::uint32_t count);
  bool on_http2_bytes(Connection& connection, std::string_view bytes);
  bool has_own_answers(const Connection& connection) const;
  void start_own_answers(Connection& connection) const;
  void on_due(Instant now);
  bool answer(Connection& connection, std::uint32_t count);
  void append_unique_answers(Connection& connection, std::uint32_t count);
  bool flush(Connection& connection);
  std::string_view next_bytes(const Connection& connection) const;
  void close_connection(Connection& connection);

  ServerOptions options_;
  TlsContext tls_;
  std::string answer_;  ///< Head and body.
  std::string_view body_;
  std::string answers_;  ///< As many copies of it as one send may carry for pipelined requests.
  std::size_t body_at_{0};
  int epoll_{-1};
  std::vector<int> listeners_;
  std::uint16_t port_{0};
  std::vector<std::unique_ptr<Connection>> connections_;  ///< By descriptor.
  std::deque<Delayed> delayed_;                           ///< One delay for all, so in order of their due times.
  std::vector<char> received_;
  std::vector<char> plaintext_;
  std::uint64_t requests_{0};
  std::uint64_t accepted_{0};
};

}  // namespace pepe
