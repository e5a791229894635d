#pragma once

#include <nghttp2/nghttp2.h>
#include <openssl/ssl.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace pepe {

struct LockstepOptions {
  bool tls{false};
  bool http2{false};
  std::string answer{};     ///< HTTP/1.1: head and body.
  std::string body{};       ///< HTTP/2: of a 200 with a content-type.
  std::size_t together{1};  ///< Requests that are waited for before any is answered.
};

/// Answers every request with the same bytes. It waits until so many have asked, so that the client finds its answers
/// together, as it does under load, and what it does for them is the same each time. One at a time in a program: it
/// holds what waits.
class LockstepServer {
 public:
  explicit LockstepServer(LockstepOptions options);
  LockstepServer(const LockstepServer&) = delete;
  ~LockstepServer();

  std::string url() const;

 private:
  struct Peer;
  struct Asked {
    Peer* peer;
    std::int32_t stream;  // HTTP/2
  };

  void serve();
  void accept_peer();
  bool read_from(Peer& peer);
  bool flush(Peer& peer);
  void answer_all();
  void drop(Peer& peer);
  static int on_frame(nghttp2_session* session, const nghttp2_frame* frame, void* user);
  static ssize_t read_body(nghttp2_session*, std::int32_t, std::uint8_t* to, std::size_t size, std::uint32_t* flags,
                           nghttp2_data_source* source, void*);

  const LockstepOptions options_;
  std::shared_ptr<SSL_CTX> context_;
  int listener_{-1};
  int set_{-1};
  std::uint16_t port_{0};
  std::map<int, std::unique_ptr<Peer>> peers_;
  std::vector<Asked> asked_;
  std::atomic<bool> stop_{false};
  std::atomic<bool> answering_{false};
  std::thread thread_;
};

}  // namespace pepe
