#include "engine/prometheus.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <deque>
#include <string>
#include <vector>

#include "engine/asio.h"
#include "pepe/result/codec.h"
#include "support/no_free_descriptor.h"

namespace pepe {
namespace {

using asio::ip::tcp;
using testing::Each;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// Keeps what it gets, or refuses it.
struct Output : ChunkSink {
  std::string bytes;
  bool broken{false};
  Expected<void> write(std::string_view chunks) override {
    if (broken) return Error{"disk full"};
    bytes += chunks;
    return {};
  }
};

std::string chunk_of(int hits) {
  const auto encoder = find_codec("msgpack")->make_encoder();
  std::string out;
  Result result;
  result.method = "GET";
  result.url = "http://h/";
  result.code = 200;
  for (int i = 0; i < hits; ++i) encoder->encode(result, out);
  encoder->flush(out);
  return out;
}

/// A client of the endpoint at `port`.
class Client {
 public:
  explicit Client(std::uint16_t port, const char* address = "127.0.0.1") {
    socket_.connect({asio::ip::make_address(address), port}, failed_);
  }
  bool connected() const { return !failed_; }
  void send(const std::string& text) {
    error_code ignored;
    asio::write(socket_, asio::buffer(text), ignored);
  }
  /// All that comes until the other end closes. A reset is told apart.
  std::string read() {
    std::string text;
    error_code end;
    asio::read(socket_, asio::dynamic_buffer(text), end);
    return end == asio::error::eof ? text : text + "(" + end.message() + ")";
  }

 private:
  asio::io_context io_;
  tcp::socket socket_{io_};
  error_code failed_;
};

std::string ask(std::uint16_t port, const std::string& request) {
  Client client{port};
  client.send(request);
  return client.read();
}

class PrometheusEndpoint : public testing::Test {
 protected:
  Output output_;
  std::unique_ptr<PrometheusExporter> exporter_{make_prometheus_exporter("127.0.0.1:0", output_).value()};
  std::uint16_t port_{exporter_->port()};
};

TEST_F(PrometheusEndpoint, ShowsWhatWentToTheOutput) {
  const std::string first = chunk_of(3);
  const std::string second = chunk_of(4) + chunk_of(5);
  ASSERT_TRUE(exporter_->write(first));
  ASSERT_TRUE(exporter_->write(second));
  EXPECT_EQ(output_.bytes, first + second);
  const std::string answer = ask(port_, "GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
  EXPECT_THAT(answer, HasSubstr("request_seconds_count{method=\"GET\",status=\"200\",url=\"http://h/\"} 12\n"));
}

TEST_F(PrometheusEndpoint, AnswersWhileThereIsNoFreeDescriptor) {
  std::array<int, 3> clients{};
  for (int& fd : clients) {
    fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const timeval patience{10, 0};
    ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  const tcp::endpoint endpoint{asio::ip::address_v4::loopback(), port_};
  std::vector<std::string> answers;
  {
    const NoFreeDescriptor none;
    for (const int fd : clients) {
      std::string& answer = answers.emplace_back(100'000, '\0');
      ASSERT_EQ(::connect(fd, endpoint.data(), static_cast<socklen_t>(endpoint.size())), 0);
      ASSERT_EQ(::send(fd, "GET / HTTP/1.0\r\n\r\n", 18, MSG_NOSIGNAL), 18);
      const ssize_t got = ::recv(fd, answer.data(), answer.size(), 0);
      answer.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
      ::shutdown(fd, SHUT_RDWR);  // not closed: that would leave a number free
    }
  }
  for (const int fd : clients) ::close(fd);
  EXPECT_THAT(answers, Each(StartsWith("HTTP/1.1 200 OK\r\n")));
}

TEST_F(PrometheusEndpoint, ReportsTheErrorOfTheOutput) {
  output_.broken = true;
  const auto written = exporter_->write(chunk_of(1));
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().text(), "disk full");
}

TEST_F(PrometheusEndpoint, SpeaksOpenMetricsWhenAsked) {
  const std::string answer = ask(port_, "GET / HTTP/1.1\r\nHost: h\r\nAccept: application/openmetrics-text\r\n\r\n");
  EXPECT_THAT(answer, HasSubstr("Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n"));
  EXPECT_THAT(answer, EndsWith("# EOF\n"));
}

TEST_F(PrometheusEndpoint, GivesHeadNoBody) {
  const std::string answer = ask(port_, "HEAD /any/path HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, EndsWith("\r\n\r\n"));
  EXPECT_THAT(answer, Not(HasSubstr("Content-Length: 0\r\n")));
}

const auto kName = [](const auto& row) { return std::string{row.param.name}; };

struct FaultCase {
  const char* name;
  std::string request;
  const char* answer;
};
void PrintTo(const FaultCase& row, std::ostream* out) { *out << row.name; }

class PrometheusFault : public PrometheusEndpoint, public testing::WithParamInterface<FaultCase> {};
TEST_P(PrometheusFault, IsAnsweredAndTheNextScrapeToo) {
  EXPECT_THAT(ask(port_, GetParam().request), StartsWith(GetParam().answer));
  EXPECT_THAT(ask(port_, "GET / HTTP/1.0\r\n\r\n"), StartsWith("HTTP/1.1 200 OK\r\n"));
}
INSTANTIATE_TEST_SUITE_P(
    All, PrometheusFault,
    testing::Values(
        FaultCase{"OtherMethod", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello", "HTTP/1.1 405 "},
        FaultCase{"NotHttp", "hello\r\n\r\n", "HTTP/1.1 400 "},
        FaultCase{"LongHeader", "GET / HTTP/1.1\r\nX: " + std::string(9000, 'x') + "\r\n\r\n", "HTTP/1.1 431 "},
        FaultCase{"LongTarget", "GET /" + std::string(9000, 'x') + " HTTP/1.1\r\n\r\n", "HTTP/1.1 431 "}),
    kName);

TEST_F(PrometheusEndpoint, AnswersBesideClientsThatSayNothing) {
  std::deque<Client> silent;
  for (int i = 0; i < 15; ++i) silent.emplace_back(port_);
  for (int i = 0; i < 3; ++i) EXPECT_THAT(ask(port_, "GET / HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST_F(PrometheusEndpoint, AnswersAgainWhenClientsHaveLeft) {
  {
    std::deque<Client> silent;
    for (int i = 0; i < 40; ++i) silent.emplace_back(port_);
  }
  EXPECT_THAT(ask(port_, "GET / HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST_F(PrometheusEndpoint, IsClosedWithTheExporter) {
  Client open{port_};
  ASSERT_TRUE(open.connected());
  exporter_.reset();
  EXPECT_FALSE(Client{port_}.connected());
  open.read();
}

TEST_F(PrometheusEndpoint, IsRefusedAPortThatIsTaken) {
  for (const std::string host : {"127.0.0.1", ""}) {
    const std::string address = fmt::format("{}:{}", host, port_);
    const auto second = make_prometheus_exporter(address, output_);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().text(), fmt::format("prometheus: listen tcp {}: bind: address already in use", address));
  }
}

TEST(PrometheusAddress, WithoutAHostMeansAll) {
  Output output;
  const auto exporter = make_prometheus_exporter(":0", output).value();
  EXPECT_TRUE(Client{exporter->port()}.connected());
}

struct AddressCase {
  const char* name;
  const char* address;
  const char* error;
};
void PrintTo(const AddressCase& row, std::ostream* out) { *out << row.name; }

class PrometheusAddressFault : public testing::TestWithParam<AddressCase> {};
TEST_P(PrometheusAddressFault, IsNamed) {
  Output output;
  const auto exporter = make_prometheus_exporter(GetParam().address, output);
  ASSERT_FALSE(exporter);
  EXPECT_EQ(exporter.error().text(), GetParam().error);
}
INSTANTIATE_TEST_SUITE_P(
    All, PrometheusAddressFault,
    testing::Values(
        AddressCase{"NoPort", "127.0.0.1", "prometheus: listen tcp: address 127.0.0.1: missing port in address"},
        AddressCase{"NoPortBehindBrackets", "[::1]", "prometheus: listen tcp: address [::1]: missing port in address"},
        AddressCase{"NoBrackets", "::1:80", "prometheus: listen tcp: address ::1:80: too many colons in address"},
        AddressCase{"PortTooHigh", "127.0.0.1:65536", "prometheus: listen tcp: address 127.0.0.1:65536: invalid port"},
        AddressCase{"PortIsAWord", "127.0.0.1:eighty",
                    "prometheus: listen tcp: address 127.0.0.1:eighty: invalid port"},
        AddressCase{"EmptyPort", "127.0.0.1:", "prometheus: listen tcp: address 127.0.0.1:: invalid port"},
        AddressCase{"NotOurs", "192.0.2.1:80",
                    "prometheus: listen tcp 192.0.2.1:80: bind: cannot assign requested address"},
        AddressCase{"NoSuchHost", "nosuch host:80", "prometheus: listen tcp: lookup nosuch host: no such host"}),
    kName);

}  // namespace
}  // namespace pepe
