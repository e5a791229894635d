#include "engine/socket_text.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>

namespace pepe {
namespace {

std::string text_of(const sockaddr_storage& address) {
  std::array<char, INET6_ADDRSTRLEN> buffer{};
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    ::inet_ntop(AF_INET, &v4.sin_addr, buffer.data(), buffer.size());
    return fmt::format("{}:{}", buffer.data(), ntohs(v4.sin_port));
  }
  if (address.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    ::inet_ntop(AF_INET6, &v6.sin6_addr, buffer.data(), buffer.size());
    return fmt::format("[{}]:{}", buffer.data(), ntohs(v6.sin6_port));
  }
  if (address.ss_family == AF_UNIX) return reinterpret_cast<const sockaddr_un&>(address).sun_path;
  return "?";
}

}  // namespace

std::string local_address_text(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  return ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0 ? text_of(address) : "?";
}

std::string peer_address_text(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  return ::getpeername(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0 ? text_of(address) : "?";
}

}  // namespace pepe
