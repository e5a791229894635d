#include "engine/dialer.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <filesystem>
#include <string>
#include <vector>

#include "engine/dial_plan.h"
#include "support/no_free_descriptor.h"
#include "unit/engine/loopback.h"

namespace pepe {
namespace {

using asio::ip::make_address;
using testing::HasSubstr;
using testing::StartsWith;

TEST(Dialer, ConnectsWithoutDelayAndWithoutBlocking) {
  Listener server;
  DialBench bench{{}};
  const DialOutcome outcome = bench.dial({"http", "127.0.0.1", server.port()});
  ASSERT_TRUE(outcome.ok()) << outcome.error();
  EXPECT_NE(fcntl(outcome.fd(), F_GETFL) & O_NONBLOCK, 0);
  int no_delay = 0;
  socklen_t size = sizeof no_delay;
  getsockopt(outcome.fd(), IPPROTO_TCP, TCP_NODELAY, &no_delay, &size);
  EXPECT_EQ(no_delay, 1);
  EXPECT_EQ(send(outcome.fd(), "x", 1, 0), 1);
  EXPECT_EQ(outcome.dialed->tls, nullptr);
}

struct HostCase {
  const char* name;
  const char* listen;
  const char* host;
};
class DialerHosts : public testing::TestWithParam<HostCase> {};
TEST_P(DialerHosts, Connects) {
  Listener server{GetParam().listen};
  DialBench bench{{}};
  const DialOutcome outcome = bench.dial({"http", GetParam().host, server.port()});
  EXPECT_TRUE(outcome.ok()) << outcome.error();
}
INSTANTIATE_TEST_SUITE_P(All, DialerHosts,
                         testing::Values(HostCase{"V4Literal", "127.0.0.1", "127.0.0.1"},
                                         HostCase{"V6Literal", "::1", "::1"},
                                         HostCase{"EmptyIsThisMachine", "127.0.0.1", ""},
                                         HostCase{"EmptyIsThisMachineOnV6", "::1", ""},
                                         HostCase{"Name", "127.0.0.1", "localhost"}),
                         [](const auto& row) { return row.param.name; });

TEST(Dialer, NamesBothEndsWhenRefused) {
  const DeafPort v4;
  const DeafPort v6{"::1"};
  DialBench bench{{}};
  EXPECT_EQ(bench.dial({"http", "127.0.0.1", v4.port()}).error(),
            "dial tcp 0.0.0.0:0->127.0.0.1:" + std::to_string(v4.port()) + ": connect: connection refused");
  EXPECT_EQ(bench.dial({"http", "::1", v6.port()}).error(),
            "dial tcp 0.0.0.0:0->[::1]:" + std::to_string(v6.port()) + ": connect: connection refused");
}

TEST(Dialer, ConnectsFromTheLocalAddress) {
  Listener server;
  DialBench bench{with(&AttackOptions::local_address, "127.0.0.3")};
  const DialOutcome outcome = bench.dial({"http", "127.0.0.1", server.port()});
  ASSERT_TRUE(outcome.ok()) << outcome.error();
  EXPECT_EQ(server.accept().remote_endpoint().address(), make_address("127.0.0.3"));
}

TEST(Dialer, NamesTheLocalAddressThatIsNotOurs) {
  const DeafPort deaf;
  DialBench bench{with(&AttackOptions::local_address, "192.0.2.1")};
  EXPECT_EQ(
      bench.dial({"http", "127.0.0.1", deaf.port()}).error(),
      "dial tcp 192.0.2.1:0->127.0.0.1:" + std::to_string(deaf.port()) + ": bind: cannot assign requested address");
}

TEST(Dialer, SaysThatLocalAddressIsOfTheOtherFamily) {
  const DeafPort deaf{"::1"};
  DialBench bench{with(&AttackOptions::local_address, "127.0.0.1")};
  EXPECT_THAT(bench.dial({"http", "::1", deaf.port()}).error(), HasSubstr("no suitable address found"));
}

TEST(Dialer, RefusesALocalAddressThatIsNoAddress) {
  EXPECT_FALSE(make_dial_plan(with(&AttackOptions::local_address, "999.1.1.1")).has_value());
}

class DialerUnix : public testing::Test {
 protected:
  DialerUnix() { std::filesystem::remove(path_); }
  ~DialerUnix() override { std::filesystem::remove(path_); }
  const std::string path_ = testing::TempDir() + "pepe_dialer_" + std::to_string(getpid()) + ".sock";
};

TEST_F(DialerUnix, ConnectsWithoutLookingTheNameUp) {
  asio::io_context io;
  asio::local::stream_protocol::acceptor acceptor{io, asio::local::stream_protocol::endpoint{path_}};
  DialBench bench{with(&AttackOptions::unix_socket, path_)};
  const DialOutcome outcome = bench.dial({"http", "no-such-name.invalid", 80});
  EXPECT_TRUE(outcome.ok()) << outcome.error();
}

TEST_F(DialerUnix, ConnectsToAbstractNames) {
  asio::io_context io;
  const std::string name = "pepe_dialer_" + std::to_string(getpid());
  asio::local::stream_protocol::acceptor acceptor{io, asio::local::stream_protocol::endpoint{'\0' + name}};
  DialBench bench{with(&AttackOptions::unix_socket, "@" + name)};
  const DialOutcome outcome = bench.dial({"http", "h", 80});
  EXPECT_TRUE(outcome.ok()) << outcome.error();
}

TEST_F(DialerUnix, NamesTheSocketThatIsMissing) {
  DialBench bench{with(&AttackOptions::unix_socket, path_)};
  EXPECT_EQ(bench.dial({"http", "h", 80}).error(), "dial unix " + path_ + ": connect: no such file or directory");
}

TEST_F(DialerUnix, RefusesAPathThatDoesNotFit) {
  DialBench bench{with(&AttackOptions::unix_socket, std::string(200, 'x'))};
  EXPECT_THAT(bench.dial({"http", "h", 80}).error(), HasSubstr("connect: invalid argument"));
}

TEST_F(DialerUnix, ReportsAFullQueueInsteadOfAConnection) {
  asio::io_context io;
  asio::local::stream_protocol::acceptor acceptor{io};
  acceptor.open();
  acceptor.bind(asio::local::stream_protocol::endpoint{path_});
  acceptor.listen(0);
  DialBench bench{with(&AttackOptions::unix_socket, path_)};
  std::vector<DialOutcome> outcomes;
  for (int i = 0; i < 3; ++i) outcomes.push_back(bench.dial({"http", "h", 80}));
  EXPECT_THAT(outcomes.back().error(), HasSubstr("connect: resource temporarily unavailable"));
}

TEST(Dialer, ConnectToMapsTheHostAndPort) {
  Listener server;
  DialBench bench{
      with(&AttackOptions::connect_to, {{"made-up.invalid:80", {"127.0.0.1:" + std::to_string(server.port())}}})};
  EXPECT_TRUE(bench.dial({"http", "made-up.invalid", 80}).ok());
}

TEST(Dialer, ConnectToTakesCapitalLettersOfAHostForSmallOnes) {
  Listener server;
  DialBench bench{
      with(&AttackOptions::connect_to, {{"Made-Up.invalid:80", {"127.0.0.1:" + std::to_string(server.port())}}})};
  EXPECT_TRUE(bench.dial({"http", "made-up.INVALID", 80}).ok());
}

TEST(Dialer, ConnectToMapsOnlyThatPort) {
  Listener server;
  const DeafPort deaf;
  DialBench bench{with(&AttackOptions::connect_to, {{"127.0.0.1:1", {"127.0.0.1:" + std::to_string(server.port())}}})};
  EXPECT_THAT(bench.dial({"http", "127.0.0.1", deaf.port()}).error(), HasSubstr("refused"));
}

TEST(Dialer, ConnectToAcceptsBrackets) {
  Listener server{"::1"};
  DialBench bench{with(&AttackOptions::connect_to, {{"[::2]:80", {"[::1]:" + std::to_string(server.port())}}})};
  EXPECT_TRUE(bench.dial({"http", "::2", 80}).ok());
}

TEST(Dialer, ConnectToTakesTurnsFromTheSecondOn) {
  Listener a{"127.0.0.1"};
  Listener b{"127.0.0.2", a.port()};
  const std::string port = std::to_string(a.port());
  DialBench bench{with(&AttackOptions::connect_to, {{"h:80", {"127.0.0.1:" + port}}, {"h:80", {"127.0.0.2:" + port}}})};
  EXPECT_EQ(bench.plan().routes({"http", "h", 80}), 2U);
  EXPECT_EQ(bench.plan().routes({"http", "h", 81}), 1U);
  for (const char* expected : {"127.0.0.2", "127.0.0.1", "127.0.0.2"}) {
    const DialOutcome outcome = bench.dial({"http", "h", 80});
    ASSERT_TRUE(outcome.ok()) << outcome.error();
    EXPECT_EQ(outcome.dialed->peer.address, make_address(expected));
  }
  for (const std::uint32_t route : {1U, 1U, 2U}) {
    const DialOutcome outcome = bench.dial({"http", "h", 80, route});
    ASSERT_TRUE(outcome.ok()) << outcome.error();
    EXPECT_EQ(outcome.dialed->peer.address, make_address(route == 1 ? "127.0.0.1" : "127.0.0.2"));
  }
}

TEST(Dialer, ConnectToRefusesAPortThatIsNone) {
  DialBench bench{with(&AttackOptions::connect_to, {{"h:80", {"127.0.0.1:99999"}}})};
  EXPECT_EQ(bench.dial({"http", "h", 80}).error(), "dial tcp: address 99999: invalid port");
}

TEST(Dialer, NamesTheHostThatIsUnknown) {
  DialBench bench{{}};
  const std::string error = bench.dial({"http", std::string{"a\0b", 3}, 80}).error();
  EXPECT_THAT(error, StartsWith("lookup a"));
  EXPECT_THAT(error, testing::EndsWith(": no such host"));
}

TEST(Dialer, CancelledDialNeverEndsAndLeavesNoDescriptor) {
  SilentListener silent{"127.0.0.1"};
  Listener server;
  DialBench bench{{}};
  EXPECT_TRUE(bench.dial({"http", "127.0.0.1", server.port()}).ok());
  const std::ptrdiff_t before = open_descriptors();
  bool ended = false;
  const auto note = [&](Expected<Dialed>) { ended = true; };
  const Dialer::Id not_started = bench.dialer().dial({"http", "127.0.0.1", silent.port()}, note);
  bench.dialer().cancel(not_started);
  const Dialer::Id started = bench.dialer().dial({"http", "127.0.0.1", silent.port()}, note);
  bench.io().restart();
  bench.io().poll();
  EXPECT_EQ(bench.dialer().phase(started), "connecting");
  bench.dialer().cancel(started);
  EXPECT_EQ(bench.dialer().phase(started), "");
  bench.io().restart();
  bench.io().run();
  EXPECT_FALSE(ended);
  EXPECT_EQ(open_descriptors(), before);
}

TEST(Dialer, DoneMayCancelOtherDials) {
  Listener server;
  DialBench bench{{}};
  const Origin origin{"http", "127.0.0.1", server.port()};
  Dialer::Id second = 0;
  int ended = 0;
  const auto note = [&](Expected<Dialed> dialed) {
    ++ended;
    bench.dialer().cancel(second);
    if (dialed) close(dialed->fd);
  };
  bench.dialer().dial(origin, note);
  second = bench.dialer().dial(origin, note);
  bench.io().run();
  EXPECT_EQ(ended, 1);
}

TEST(Dialer, DestroyedWithDialsUnderWayLeavesNoDescriptor) {
  SilentListener silent{"127.0.0.1"};
  const std::ptrdiff_t before = open_descriptors();
  {
    DialBench bench{{}};
    for (int i = 0; i < 8; ++i) bench.dialer().dial({"http", "127.0.0.1", silent.port()}, [](Expected<Dialed>) {});
    bench.io().poll();
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST(Dialer, SaysWhenDescriptorsRunOut) {
  const DeafPort deaf;
  const Origin origin{"http", "127.0.0.1", deaf.port()};
  DialBench bench{{}};
  bench.dial(origin);  // the loop opens its own descriptors when it is first used
  const DialOutcome outcome = [&] {
    const NoFreeDescriptor none;
    return bench.dial(origin);
  }();
  EXPECT_EQ(outcome.error(),
            "dial tcp 0.0.0.0:0->127.0.0.1:" + std::to_string(deaf.port()) + ": socket: too many open files");
}

}  // namespace
}  // namespace pepe
