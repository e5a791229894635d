#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/transport.h"
#include "unit/engine/loopback.h"

namespace pepe {
namespace {

using asio::ip::make_address;
using asio::ip::tcp;
using testing::HasSubstr;

Expected<asio::ip::address> race(std::vector<const char*> addresses, std::uint16_t port) {
  asio::io_context io;
  std::vector<asio::ip::address> parsed;
  for (const char* address : addresses) parsed.push_back(make_address(address));
  const auto connect = std::make_shared<TcpConnect>(io, parsed, port, std::nullopt);
  Expected<asio::ip::address> outcome{Error{"not done"}};
  connect->start([&](Expected<TcpConnect::Connected> connected) {
    if (connected) {
      outcome = connected->address;
    } else {
      outcome = connected.error();
    }
  });
  io.run();
  return outcome;
}

TEST(TcpConnect, TriesTheNextAddressAtOnceWhenRefused) {
  Listener server{"127.0.0.2"};
  EXPECT_EQ(*race({"127.0.0.1", "127.0.0.2"}, server.port()), make_address("127.0.0.2"));
}

TEST(TcpConnect, TriesTheNextAddressWhenOneIsSilent) {
  SilentListener silent{"127.0.0.1"};
  Listener server{"127.0.0.2", silent.port()};
  EXPECT_EQ(*race({"127.0.0.1", "127.0.0.2"}, server.port()), make_address("127.0.0.2"));
}

TEST(TcpConnect, ReportsTheFirstAddressWhenAllFail) {
  const DeafPort deaf;
  EXPECT_THAT(race({"127.0.0.1", "::1"}, deaf.port()).error().text(), HasSubstr("->127.0.0.1:"));
}

TEST(TcpConnect, TakesAConnectionToItselfForRefused) {
  // Only the chosen local port can meet the remote one, so the port is fixed by binding to it.
  asio::io_context io;
  Socket socket{io};
  socket.open(tcp::v4());
  socket.bind(tcp::endpoint{make_address("127.0.0.1"), 0});
  Listener server;
  const tcp::endpoint elsewhere{make_address("127.0.0.1"), server.port()};
  EXPECT_FALSE(is_connected_to_itself(socket, elsewhere));
  const auto itself = socket.local_endpoint();
  socket.connect(itself);
  EXPECT_TRUE(is_connected_to_itself(socket, itself));
}

}  // namespace
}  // namespace pepe
