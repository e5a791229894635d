#include "engine/prometheus.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <functional>
#include <list>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "engine/asio.h"
// Beast is built on Asio and comes after it.
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include "engine/request_metrics.h"
#include "engine/shortage.h"
#include "engine/signals.h"
#include "pepe/result/codec.h"

namespace pepe {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;

constexpr std::size_t kMaxScrapes = 16;
constexpr std::uint32_t kMaxRequestBytes = 8 * 1024;
// For a client to send its request, and again for it to take the answer.
constexpr std::chrono::seconds kTimeout{5};
constexpr std::chrono::milliseconds kAcceptPause{100};

using Answer = http::response<http::string_body>;
using MakePage = std::function<std::string(MetricsFormat)>;

Answer make_answer(const http::request_header<>& request, const MakePage& make_page) {
  Answer answer{http::status::ok, 11};
  answer.keep_alive(false);
  if (request.method() != http::verb::get && request.method() != http::verb::head) {
    answer.result(http::status::method_not_allowed);
    answer.set(http::field::allow, "GET, HEAD");
    answer.content_length(0);
    return answer;
  }
  const auto accept = request[http::field::accept];
  const MetricsFormat format = preferred_format({accept.data(), accept.size()});
  const std::string_view type = content_type(format);
  answer.set(http::field::content_type, {type.data(), type.size()});
  std::string page = make_page(format);
  answer.content_length(page.size());
  if (request.method() == http::verb::get) answer.body() = std::move(page);
  return answer;
}

/// One connection of a client: one request, one answer. Lives on the endpoint's thread.
class Scrape {
 public:
  Scrape(tcp::socket socket, const MakePage& make_page) : stream_{std::move(socket)}, make_page_{make_page} {
    parser_.header_limit(kMaxRequestBytes);
  }
  Scrape(const Scrape&) = delete;

  /// `on_end` runs once, as the last thing; it does not destroy the scrape at once.
  void start(std::function<void()> on_end) {
    on_end_ = std::move(on_end);
    stream_.expires_after(kTimeout);
    http::async_read_header(stream_, buffer_, parser_, [this](error_code error, std::size_t) { on_request(error); });
  }

 private:
  void on_request(error_code error) {
    if (!error) return send(make_answer(parser_.get(), make_page_));
    if (error.category() != make_error_code(http::error::bad_method).category()) return on_end_();
    if (error == http::error::end_of_stream || error == http::error::partial_message) return on_end_();
    const bool large = error == http::error::header_limit || error == http::error::buffer_overflow;
    Answer answer{large ? http::status::request_header_fields_too_large : http::status::bad_request, 11};
    answer.keep_alive(false);
    answer.content_length(0);
    send(std::move(answer));
  }

  void send(Answer answer) {
    answer_ = std::move(answer);
    stream_.expires_after(kTimeout);
    http::async_write(stream_, answer_, [this](error_code error, std::size_t) { on_written(error); });
  }

  // Closing a socket with unread bytes would reset it, and the client might lose the answer.
  void on_written(error_code error) {
    if (error) return on_end_();
    stream_.socket().shutdown(tcp::socket::shutdown_send, error);
    drain();
  }

  void drain() {
    stream_.async_read_some(asio::buffer(surplus_), [this](error_code error, std::size_t) {
      if (error) return on_end_();
      drain();
    });
  }

  beast::tcp_stream stream_;
  beast::flat_buffer buffer_{kMaxRequestBytes};
  http::request_parser<http::empty_body> parser_;
  Answer answer_;
  std::array<char, 1024> surplus_;
  const MakePage& make_page_;
  std::function<void()> on_end_;
};

/// A descriptor that is held for when all others are taken: what the run lacks then is just what one would look for.
class SpareDescriptor {
 public:
  SpareDescriptor() { fetch(); }
  ~SpareDescriptor() { give_up(); }
  SpareDescriptor(const SpareDescriptor&) = delete;

  void fetch() noexcept {
    if (fd_ < 0) fd_ = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  }
  /// Whether there was one to give up.
  bool give_up() noexcept {
    if (fd_ < 0) return false;
    ::close(std::exchange(fd_, -1));
    return true;
  }

 private:
  int fd_{-1};
};

/// Answers every request, whatever its path, with a page of metrics, on a thread of its own.
class Endpoint {
 public:
  explicit Endpoint(MakePage make_page) : make_page_{std::move(make_page)} {}
  ~Endpoint() {
    io_.stop();
    if (thread_.joinable()) thread_.join();
  }
  Endpoint(const Endpoint&) = delete;

  Expected<void> listen(const std::string& address);
  std::uint16_t port() const noexcept { return port_; }

 private:
  Expected<std::vector<tcp::endpoint>> resolve(const std::string& address);
  error_code try_listen(const tcp::endpoint& endpoint, const char*& failed);
  void run();
  void accept();
  void on_client(error_code error);
  void pause();

  asio::io_context io_{1};  // First, so destroyed last: all below refer to it.
  tcp::acceptor acceptor_{io_};
  asio::steady_timer pause_{io_};
  SpareDescriptor spare_;
  MakePage make_page_;
  std::list<Scrape> scrapes_;
  bool accepting_{false};
  std::uint16_t port_{0};
  std::thread thread_;
};

Expected<void> Endpoint::listen(const std::string& address) {
  auto endpoints = resolve(address);
  if (!endpoints) return std::move(endpoints).error();
  error_code error;
  const char* failed = "";
  for (const tcp::endpoint& endpoint : *endpoints) {
    error = try_listen(endpoint, failed);
    // Another address may do where this one does not exist, but not where it is taken.
    if (error != asio::error::address_family_not_supported && error.value() != EADDRNOTAVAIL) break;
  }
  if (error) return system_error(fmt::format("prometheus: listen tcp {}: {}", address, failed), error.value());
  port_ = acceptor_.local_endpoint(error).port();
  accept();
  auto thread = start_thread([this] { run(); });
  if (!thread) return Error{"prometheus: " + thread.error().text()};
  thread_ = *std::move(thread);
  return {};
}

// A scrape that finds no memory is lost, and nothing else: the endpoint listens again once there is some.
void Endpoint::run() {
  leave_signals_to_others();
  for (;;) {
    try {
      accept();
      io_.run();
      return;
    } catch (const std::exception&) {
      std::this_thread::sleep_for(kAcceptPause);
    }
  }
}

// Where to listen, the best first.
Expected<std::vector<tcp::endpoint>> Endpoint::resolve(const std::string& address) {
  const auto bad = [&address](const char* reason) {
    return Error{fmt::format("prometheus: listen tcp: address {}: {}", address, reason)};
  };
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos || address.ends_with(']')) return bad("missing port in address");
  std::string host = address.substr(0, colon);
  const bool bracketed = host.starts_with('[') && host.ends_with(']');
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (!bracketed && host.find(':') != std::string::npos) return bad("too many colons in address");
  std::uint16_t port = 0;
  const char* const end = address.data() + address.size();
  const auto [stop, fault] = std::from_chars(address.data() + colon + 1, end, port);
  if (fault != std::errc{} || stop != end) return bad("invalid port");

  if (host.empty()) return std::vector{tcp::endpoint{tcp::v6(), port}, tcp::endpoint{tcp::v4(), port}};
  error_code error;
  if (const auto numeric = asio::ip::make_address(host, error); !error)
    return std::vector{tcp::endpoint{numeric, port}};
  const auto found = tcp::resolver{io_}.resolve(host, "", asio::ip::resolver_base::passive, error);
  std::vector<tcp::endpoint> endpoints;
  for (const auto& entry : found) endpoints.emplace_back(entry.endpoint().address(), port);
  if (endpoints.empty()) return Error{fmt::format("prometheus: listen tcp: lookup {}: no such host", host)};
  // A name such as localhost means its IPv4 address to most clients.
  std::stable_partition(endpoints.begin(), endpoints.end(), [](const auto& e) { return e.address().is_v4(); });
  return endpoints;
}

error_code Endpoint::try_listen(const tcp::endpoint& endpoint, const char*& failed) {
  error_code error;
  if (acceptor_.is_open()) acceptor_.close(error);
  failed = "socket";
  acceptor_.open(endpoint.protocol(), error);
  if (error) return error;
  acceptor_.set_option(tcp::acceptor::reuse_address{true}, error);
  if (endpoint.address().is_v6() && endpoint.address().is_unspecified())
    acceptor_.set_option(asio::ip::v6_only{false}, error);
  failed = "bind";
  acceptor_.bind(endpoint, error);
  if (error) return error;
  failed = "listen";
  acceptor_.listen(asio::socket_base::max_listen_connections, error);
  if (error) return error;
  acceptor_.non_blocking(true, error);  // a client may be gone before it is accepted
  return error;
}

// Further clients wait in the system's queue while there are as many as may be. A client is waited for before one is
// accepted: the system wants a descriptor for that even where nobody is in the queue, and the spare one would be gone.
void Endpoint::accept() {
  if (accepting_ || scrapes_.size() >= kMaxScrapes) return;
  acceptor_.async_wait(tcp::acceptor::wait_read, [this](error_code error) { on_client(error); });
  accepting_ = true;
}

void Endpoint::on_client(error_code error) {
  if (error) return pause();
  tcp::socket socket = acceptor_.accept(error);
  const bool lacks_descriptor = error == asio::error::no_descriptors || error.value() == ENFILE;
  if (lacks_descriptor && spare_.give_up()) socket = acceptor_.accept(error);
  if (error && error != asio::error::try_again) return pause();
  accepting_ = false;
  if (error) return accept();
  const auto at = scrapes_.emplace(scrapes_.end(), std::move(socket), make_page_);
  at->start([this, at] {
    asio::post(io_, [this, at] {
      scrapes_.erase(at);
      spare_.fetch();
      accept();
    });
  });
  accept();
}

// Without a pause the same error would come again at once.
void Endpoint::pause() {
  pause_.expires_after(kAcceptPause);
  pause_.async_wait([this](error_code) {
    spare_.fetch();
    accepting_ = false;
    accept();
  });
}

class Exporter final : public PrometheusExporter {
 public:
  explicit Exporter(ChunkSink& out)
      : out_{out}, decoder_{find_codec("msgpack")->make_decoder({}, {.bodies = false, .headers = false})} {}

  Expected<void> listen(const std::string& address) { return endpoint_.listen(address); }
  std::uint16_t port() const noexcept override { return endpoint_.port(); }

  Expected<void> write(std::string_view chunks) override {
    count(chunks);
    return out_.write(chunks);
  }

 private:
  void count(std::string_view chunks) {
    InputWindow window{.bytes = chunks, .at_end = true};
    Result result;
    const std::lock_guard lock{mutex_};
    for (;;) {
      const Expected<DecodeStatus> status = decoder_->next(window, result);
      if (!status || *status != DecodeStatus::kResult) return;
      metrics_.add(result);
    }
  }

  std::string page(MetricsFormat format) {
    std::string page;
    const std::lock_guard lock{mutex_};
    metrics_.render(format, page);
    return page;
  }

  ChunkSink& out_;
  std::unique_ptr<Decoder> decoder_;
  std::mutex mutex_;
  RequestMetrics metrics_;  // Written by the sink's thread, read by the endpoint's.
  Endpoint endpoint_{[this](MetricsFormat format) { return page(format); }};  // Last: its thread reads the above.
};

}  // namespace

Expected<std::unique_ptr<PrometheusExporter>> make_prometheus_exporter(const std::string& address, ChunkSink& out) {
  auto exporter = std::make_unique<Exporter>(out);
  if (auto listening = exporter->listen(address); !listening) return std::move(listening).error();
  return std::unique_ptr<PrometheusExporter>{std::move(exporter)};
}

}  // namespace pepe
