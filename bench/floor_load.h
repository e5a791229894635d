#pragma once

#include <sys/epoll.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "bench/tls.h"
#include "pepe/base/expected.h"
#include "pepe/base/time.h"

namespace pepe {

struct FloorOptions {
  std::uint64_t port{0};
  std::uint64_t connections{64};
  std::uint64_t streams{0};  ///< HTTP/2 streams on each connection; 0: HTTP/1.1.
  Nanos duration{std::chrono::seconds{5}};
  std::uint64_t requests{0};  ///< 0: until the duration is over.
  std::uint64_t rate{0};      ///< Requests a second; 0: each connection sends as soon as it has its answer.
  bool tls{false};
};

/// The least that a load of one protocol can cost: connections over edge-triggered epoll, and no results.
class FloorLoad {
 public:
  explicit FloorLoad(const FloorOptions& options) : options_{options}, events_(512), received_(kReadBytes) {}
  FloorLoad(const FloorLoad&) = delete;
  virtual ~FloorLoad();

  virtual Expected<void> connect_all() = 0;
  virtual Expected<void> run() = 0;

  std::uint64_t done() const noexcept { return done_; }
  Nanos elapsed() const noexcept { return elapsed_; }

 protected:
  static constexpr std::size_t kReadBytes = 256 * 1024;

  /// What every connection needs.
  Expected<void> prepare();
  /// True: the load is over. REQUIRES: start_ is set.
  bool over(Instant now) noexcept;

  FloorOptions options_;
  TlsContext tls_;
  int epoll_{-1};
  std::vector<epoll_event> events_;
  std::vector<char> received_;
  Instant start_{};
  std::uint64_t done_{0};

 private:
  Nanos elapsed_{0};
};

/// HTTP/2: a bare loop over nghttp2. Each connection has all its streams under way at all times.
std::unique_ptr<FloorLoad> make_http2_floor(const FloorOptions& options);

}  // namespace pepe
