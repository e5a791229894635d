#include "alloc/load.h"

#include <fmt/format.h>
#include <openssl/crypto.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <utility>

#include "alloc/lockstep_server.h"
#include "pepe/base/check.h"
#include "pepe/engine/attack.h"
#include "support/gzip.h"

namespace pepe {
namespace {

using Wire = Load::Wire;
using Form = Load::Form;

// What is not 0, and why: OpenSSL gives the buffers of a connection back after every record, so that one which waits
// costs little (SSL_MODE_RELEASE_BUFFERS), which many hits of HTTP/2 share; a packed body brings zlib's state; a lazy
// target a request of its own; a connection for each hit its dial.
constexpr Load kLoads[] = {
    {.name = "Http1", .allocations = 0, .system_calls = 2.1},
    {.name = "Http1Paced", .allocations = 0, .system_calls = 2.1, .paced = true},
    {.name = "Http1WithoutKeepAlive", .allocations = 12.5, .system_calls = 9, .keepalive = false},
    {.name = "Http1Chunked", .allocations = 0, .system_calls = 2.1, .form = Form::kChunked},
    {.name = "Http1Gzip", .allocations = 2, .system_calls = 2.1, .form = Form::kGzip, .body = 1000},
    {.name = "Http1Body16k", .allocations = 0, .system_calls = 2.1, .body = 16 * 1024},
    {.name = "Http1Body130k", .allocations = 0, .system_calls = 2.5, .body = 130'780},
    {.name = "Http1Lazy", .allocations = 5.1, .system_calls = 3.1, .lazy = true},
    {.name = "Http1Prometheus", .allocations = 0, .system_calls = 2.1, .prometheus = true},
    {.name = "Http1Tls", .allocations = 0, .system_calls = 2.15, .openssl_allocations = 6, .wire = Wire::kHttp1Tls},
    {.name = "H2c", .allocations = 0, .system_calls = 0.25, .wire = Wire::kH2c},
    {.name = "Http2Tls", .allocations = 0, .system_calls = 0.25, .openssl_allocations = 0.4, .wire = Wire::kHttp2Tls},
};

/// OpenSSL's calls of malloc and realloc by this thread.
thread_local std::uint64_t openssl_calls{0};

// Before OpenSSL has made anything.
const bool kOpensslIsCounted = CRYPTO_set_mem_functions(
                                   [](std::size_t size, const char*, int) {
                                     ++openssl_calls;
                                     return std::malloc(size);
                                   },
                                   [](void* block, std::size_t size, const char*, int) {
                                     ++openssl_calls;
                                     return std::realloc(block, size);
                                   },
                                   [](void* block, const char*, int) { std::free(block); }) == 1;

Counted counts_so_far() { return {allocations() - openssl_calls, openssl_calls, system_calls()}; }

/// A number of hits; notes the counters when the part that counts begins and ends. It is asked once per hit, on the
/// worker's thread.
class CountingPacer final : public Pacer {
 public:
  CountingPacer(std::uint64_t warm_up, std::uint64_t hits, Nanos gap)
      : first_{warm_up}, end_{warm_up + hits}, gap_{gap} {}

  std::optional<Nanos> due(std::uint64_t n) const noexcept override {
    if (n == first_) before_ = counts_so_far();
    if (n == end_) after_ = counts_so_far();
    if (n > end_) return std::nullopt;
    return gap_ * static_cast<std::int64_t>(n);
  }
  std::uint64_t hits_before(Nanos) const noexcept override { return end_ + 1; }
  bool unpaced() const noexcept override { return gap_ == Nanos{0}; }

  Counted counted() const {
    return {after_.allocations - before_.allocations,
            after_.openssl_allocations - before_.openssl_allocations,
            {after_.calls.send - before_.calls.send, after_.calls.recv - before_.calls.recv,
             after_.calls.wait - before_.calls.wait, after_.calls.other - before_.calls.other}};
  }

 private:
  const std::uint64_t first_;
  const std::uint64_t end_;
  const Nanos gap_;
  mutable Counted before_;
  mutable Counted after_;
};

class Targets final : public Targeter {
 public:
  Targets(std::string url, std::uint64_t count) : url_{std::move(url)}, left_{count} {}
  Expected<std::optional<Target>> next() override {
    if (left_ == 0) return std::optional<Target>{};
    --left_;
    return std::optional<Target>{Target{"GET", url_, {}, nullptr}};
  }

 private:
  const std::string url_;
  std::uint64_t left_;
};

struct NullSink final : ChunkSink {
  Expected<void> write(std::string_view) override { return {}; }
};

std::string http1_answer(const Load& load) {
  std::string head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nDate: Thu, 01 Jan 2026 00:00:00 GMT\r\n";
  const std::string body(load.body, 'x');
  switch (load.form) {
    case Form::kFixed: return fmt::format("{}Content-Length: {}\r\n\r\n{}", head, body.size(), body);
    case Form::kChunked:
      return fmt::format("{}Transfer-Encoding: chunked\r\n\r\n{:x}\r\n{}\r\n0\r\n\r\n", head, body.size(), body);
    case Form::kGzip: break;
  }
  const std::string packed = gzip(body);
  return fmt::format("{}Content-Encoding: gzip\r\nContent-Length: {}\r\n\r\n{}", head, packed.size(), packed);
}

}  // namespace

std::span<const Load> loads() { return kLoads; }

Expected<Counted> run_load(const Load& load, std::size_t at_once, std::uint64_t warm_up, std::uint64_t hits) {
  PEPE_CHECK(kOpensslIsCounted);
  const bool http2 = load.wire == Wire::kH2c || load.wire == Wire::kHttp2Tls;
  const LockstepServer server{{.tls = load.wire == Wire::kHttp1Tls || load.wire == Wire::kHttp2Tls,
                               .http2 = http2,
                               .answer = http1_answer(load),
                               .body = std::string(load.body, 'x'),
                               .together = load.paced ? 1 : at_once}};
  const AttackOptions options{.rate = {0, std::chrono::seconds{1}},
                              .max_workers = at_once,
                              // A hit that the machine made late would open another, which is no cost of a hit.
                              .max_connections = load.paced ? 1 : 0,
                              .keepalive = load.keepalive,
                              .lazy = load.lazy,
                              .threads = 1,
                              .tls = {.insecure = true},
                              .http2 = http2,
                              .h2c = load.wire == Wire::kH2c,
                              .prometheus_address = load.prometheus ? "127.0.0.1:0" : ""};
  const CountingPacer pacer{warm_up, hits, load.paced ? Nanos{100'000} : Nanos{0}};
  Targets targets{server.url(), load.lazy ? warm_up + hits + 2 : 1};
  NullSink sink;
  const auto summary = attack(options, targets, pacer, sink, {});
  if (!summary) return summary.error();
  if (summary->failed > 0) return Error{fmt::format("{} hits failed", summary->failed)};
  return pacer.counted();
}

}  // namespace pepe
