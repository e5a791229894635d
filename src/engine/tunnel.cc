#include <sys/socket.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/dial_plan.h"
#include "engine/limits.h"
#include "engine/proxy.h"
#include "pepe/base/text.h"

namespace pepe {
namespace {

// Of a proxy's own words, in an error text.
constexpr std::size_t kMaxWords = 80;

/// Bytes out and bytes in over a socket that may not take or have them yet.
class Talk : public SocketStep {
 public:
  explicit Talk(std::string error_prefix) : prefix_{std::move(error_prefix)} {}
  const std::string& error() const override { return error_; }

 protected:
  void say(std::string text) { unsent_ = std::move(text); }
  Next fail(const std::string& cause) {
    error_ = prefix_ + cause;
    return Next::kFailed;
  }
  /// kDone: all of say() is out.
  Next send_rest(int fd);
  /// Appends to `to` at most `limit` bytes, with `flags` for recv; kDone: some came, `*got` of them.
  Next receive(int fd, std::size_t limit, int flags, std::string& to, std::size_t* got);

 private:
  const std::string prefix_;
  std::string error_;
  std::string unsent_;
};

SocketStep::Next Talk::send_rest(int fd) {
  while (!unsent_.empty()) {
    const ssize_t sent = send(fd, unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) return Next::kWhenWritable;
    if (sent < 0) return fail(socket_error("write", fd, errno));
    unsent_.erase(0, static_cast<std::size_t>(sent));
  }
  return Next::kDone;
}

SocketStep::Next Talk::receive(int fd, std::size_t limit, int flags, std::string& to, std::size_t* got) {
  std::array<char, 4096> buffer;
  const ssize_t count = recv(fd, buffer.data(), std::min(limit, buffer.size()), flags);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return Next::kWhenReadable;
  if (count < 0) return fail(socket_error("read", fd, errno));
  if (count == 0) return fail(to.empty() ? "EOF" : "unexpected EOF");
  *got = static_cast<std::size_t>(count);
  to.append(buffer.data(), *got);
  return Next::kDone;
}

class ConnectTunnel final : public Talk {
 public:
  ConnectTunnel(const Proxy& proxy, const std::string& destination, const TunnelOptions& options)
      : Talk{proxy.error_prefix(destination)} {
    say(request(proxy, destination, options));
  }
  Next advance(int fd) override;

 private:
  static std::string request(const Proxy& proxy, const std::string& destination, const TunnelOptions& options);
  Next judge();

  std::string head_;
};

std::string ConnectTunnel::request(const Proxy& proxy, const std::string& destination, const TunnelOptions& options) {
  std::string text = "CONNECT " + destination + " HTTP/1.1\r\nHost: " + destination + "\r\n";
  const auto given = [&options](std::string_view name) {
    return std::any_of(options.headers.begin(), options.headers.end(),
                       [name](const HeaderField& field) { return equals_ignoring_case(field.name, name); });
  };
  if (!given("User-Agent")) text += "User-Agent: " + options.user_agent + "\r\n";
  const std::string authorization = proxy.authorization();
  if (!authorization.empty()) text += "Proxy-Authorization: " + authorization + "\r\n";
  for (const HeaderField& field : options.headers) {
    if (equals_ignoring_case(field.name, "Host")) continue;
    if (!authorization.empty() && equals_ignoring_case(field.name, "Proxy-Authorization")) continue;
    text += field.name + ": " + field.value + "\r\n";
  }
  return text + "\r\n";
}

SocketStep::Next ConnectTunnel::advance(int fd) {
  if (const Next sent = send_rest(fd); sent != Next::kDone) return sent;
  for (;;) {
    // Looked at first and taken after: what follows the head belongs to the tunnel.
    const std::size_t before = head_.size();
    std::size_t got = 0;
    if (const Next next = receive(fd, kMaxProxyHeadBytes, MSG_PEEK, head_, &got); next != Next::kDone) return next;
    const std::size_t end = head_.find("\r\n\r\n", before < 3 ? 0 : before - 3);
    const bool whole = end != std::string::npos;
    if (whole) head_.resize(end + 4);
    std::array<char, 4096> taken;
    if (recv(fd, taken.data(), head_.size() - before, 0) < 0) return fail(socket_error("read", fd, errno));
    if (whole) return judge();
    if (head_.size() > kMaxProxyHeadBytes)
      return fail(fmt::format("the proxy's answer to CONNECT has over {} KB of headers", kMaxProxyHeadBytes / 1024));
  }
}

SocketStep::Next ConnectTunnel::judge() {
  const std::string_view line = std::string_view{head_}.substr(0, head_.find("\r\n"));
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const bool well_formed = line.size() >= 12 && line.starts_with("HTTP/1.") && is_digit(line[7]) && line[8] == ' ' &&
                           std::all_of(line.begin() + 9, line.begin() + 12, is_digit) &&
                           (line.size() == 12 || line[12] == ' ');
  if (!well_formed) return fail("malformed HTTP response \"" + printable(line, kMaxWords) + "\"");
  const std::string_view status = line.substr(9);
  if (!status.starts_with("200")) return fail("the proxy answered CONNECT with " + printable(status, kMaxWords));
  return Next::kDone;
}

/// RFC 1928, with the user name and password of RFC 1929.
class SocksTunnel final : public Talk {
 public:
  SocksTunnel(const Proxy& proxy, const std::string& host, std::uint16_t port)
      : Talk{proxy.error_prefix(format_host_port(host, port))},
        host_{host},
        port_{port},
        credentials_{proxy.credentials} {
    say(credentials_ ? std::string{"\x05\x02\x00\x02", 4} : std::string{"\x05\x01\x00", 3});
  }
  Next advance(int fd) override;

 private:
  enum class Awaited { kMethod, kLogin, kReply, kBoundName, kBoundAddress };
  Next on_answer();
  Next on_method();
  Next on_reply();
  Next log_in();
  Next ask();
  void await(Awaited what, std::size_t bytes) {
    awaited_ = what;
    needed_ = bytes;
    answer_.clear();
  }
  std::uint8_t byte(std::size_t at) const { return static_cast<std::uint8_t>(answer_[at]); }

  const std::string host_;
  const std::uint16_t port_;
  const std::optional<std::string> credentials_;
  Awaited awaited_{Awaited::kMethod};
  std::size_t needed_{2};  ///< Bytes of the awaited part.
  std::string answer_;
  bool done_{false};
};

SocketStep::Next SocksTunnel::advance(int fd) {
  while (!done_) {
    if (const Next sent = send_rest(fd); sent != Next::kDone) return sent;
    while (answer_.size() < needed_) {
      std::size_t got = 0;
      if (const Next next = receive(fd, needed_ - answer_.size(), 0, answer_, &got); next != Next::kDone) return next;
    }
    if (const Next next = on_answer(); next != Next::kDone) return next;
  }
  return Next::kDone;
}

SocketStep::Next SocksTunnel::on_answer() {
  switch (awaited_) {
    case Awaited::kMethod: return on_method();
    case Awaited::kLogin:
      if (byte(1) != 0) return fail("the proxy refused the user name or password");
      return ask();
    case Awaited::kReply: return on_reply();
    case Awaited::kBoundName: await(Awaited::kBoundAddress, byte(0) + std::size_t{2}); return Next::kDone;
    case Awaited::kBoundAddress: done_ = true; return Next::kDone;
  }
  return Next::kDone;
}

SocketStep::Next SocksTunnel::on_method() {
  if (byte(0) != 5) return fail("the proxy does not speak SOCKS5");
  if (byte(1) == 0) return ask();
  if (byte(1) == 2 && credentials_) return log_in();
  return fail("the proxy wants a way of logging in that was not offered");
}

SocketStep::Next SocksTunnel::log_in() {
  const std::size_t colon = credentials_->find(':');
  const std::string user = credentials_->substr(0, colon);
  const std::string password = credentials_->substr(colon + 1);
  if (user.empty() || user.size() > 255 || password.size() > 255) return fail("the user name or password does not fit");
  say(std::string{'\x01', static_cast<char>(user.size())} + user + static_cast<char>(password.size()) + password);
  await(Awaited::kLogin, 2);
  return Next::kDone;
}

SocketStep::Next SocksTunnel::ask() {
  std::string request{"\x05\x01\x00", 3};
  error_code ec;
  const asio::ip::address address = asio::ip::make_address(host_, ec);
  if (ec) {
    if (host_.empty() || host_.size() > 255) return fail("the host name does not fit");
    request += {'\x03', static_cast<char>(host_.size())};
    request += host_;
  } else if (address.is_v4()) {
    const auto bytes = address.to_v4().to_bytes();
    request += '\x01';
    request.append(bytes.begin(), bytes.end());
  } else {
    const auto bytes = address.to_v6().to_bytes();
    request += '\x04';
    request.append(bytes.begin(), bytes.end());
  }
  request += {static_cast<char>(port_ >> 8), static_cast<char>(port_ & 0xff)};
  say(std::move(request));
  await(Awaited::kReply, 4);
  return Next::kDone;
}

SocketStep::Next SocksTunnel::on_reply() {
  constexpr std::array<std::string_view, 9> kCauses = {"",
                                                       "general SOCKS server failure",
                                                       "connection not allowed by ruleset",
                                                       "network unreachable",
                                                       "host unreachable",
                                                       "connection refused",
                                                       "TTL expired",
                                                       "command not supported",
                                                       "address type not supported"};
  if (byte(0) != 5) return fail("the proxy does not speak SOCKS5");
  if (byte(1) != 0) {
    return fail(byte(1) < kCauses.size() ? std::string{kCauses[byte(1)]} : "unknown code " + std::to_string(byte(1)));
  }
  switch (byte(3)) {
    case 1: await(Awaited::kBoundAddress, 4 + 2); return Next::kDone;
    case 3: await(Awaited::kBoundName, 1); return Next::kDone;
    case 4: await(Awaited::kBoundAddress, 16 + 2); return Next::kDone;
    default: return fail("the proxy answered with an unknown kind of address");
  }
}

}  // namespace

std::unique_ptr<SocketStep> make_tunnel(const Proxy& proxy, const std::string& host, std::uint16_t port,
                                        const TunnelOptions& options) {
  if (proxy.kind == Proxy::Kind::kSocks5) return std::make_unique<SocksTunnel>(proxy, host, port);
  return std::make_unique<ConnectTunnel>(proxy, format_host_port(host, port), options);
}

}  // namespace pepe
