#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/asio.h"
#include "engine/dialer.h"
#include "engine/transport.h"
#include "pepe/base/expected.h"
#include "pepe/target/target.h"

namespace pepe {

/// A proxy, as the environment names it.
struct Proxy {
  enum class Kind { kHttp, kHttps, kSocks5 };
  Kind kind{Kind::kHttp};
  std::string host;
  std::uint16_t port{0};
  std::optional<std::string> credentials;  ///< "user:password"
  std::string variable;                    ///< That named it, for texts.

  /// "http://proxy.test:3128": without the credentials.
  std::string display() const;
  /// The value of Proxy-Authorization; empty without credentials.
  std::string authorization() const;
  /// What stands in front of the cause when the proxy cannot be reached or refuses a connection to
  /// `destination`.
  std::string error_prefix(std::string_view destination) const;
};

/// `value` of `variable`: "http://user:password@host:port", "https://...", "socks5://..."; without a scheme
/// it is http. Error: without the value, which may hold a password.
Expected<Proxy> parse_proxy(std::string_view variable, std::string_view value);

/// NO_PROXY: which hosts are reached without a proxy. Names (with their subdomains), ".suffix" (subdomains
/// only), "*", addresses and CIDR blocks, each with an optional port. This machine is never reached through
/// one.
class ProxyExceptions {
 public:
  explicit ProxyExceptions(std::string_view no_proxy = {});
  bool contains(const std::string& host, std::uint16_t port) const;

 private:
  struct Rule {
    std::string suffix;  ///< With its leading dot; empty: a rule about addresses.
    bool also_itself{false};
    std::optional<asio::ip::network_v4> v4;
    std::optional<asio::ip::network_v6> v6;
    std::optional<std::uint16_t> port;
  };
  void add(std::string entry);

  bool all_{false};
  std::vector<Rule> rules_;
};

/// What HTTP_PROXY, HTTPS_PROXY and NO_PROXY, or their lower-case forms, say. Immutable.
class ProxyRules {
 public:
  struct Environment {
    std::optional<Expected<Proxy>> http;
    std::optional<Expected<Proxy>> https;
    std::string no_proxy;
  };
  static Environment read_environment();

  explicit ProxyRules(Environment environment)
      : environment_{std::move(environment)}, exceptions_{environment_.no_proxy} {}

  /// nullptr: `origin` is reached directly. Error: the variable for it names no proxy.
  Expected<const Proxy*> find(const Origin& origin) const;

 private:
  Environment environment_;
  ProxyExceptions exceptions_;
};

struct TunnelOptions {
  std::string user_agent;
  std::vector<HeaderField> headers;  ///< -proxy-header; of CONNECT requests.
};

/// The greeting that makes `proxy` pass a connection on to `host`:`port`: CONNECT or SOCKS5, which leaves
/// looking the name up to the proxy. Errors come with Proxy::error_prefix().
std::unique_ptr<SocketStep> make_tunnel(const Proxy& proxy, const std::string& host, std::uint16_t port,
                                        const TunnelOptions& options);

}  // namespace pepe
