#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/dialer.h"
#include "engine/proxy.h"
#include "engine/resolver.h"
#include "engine/tls_context.h"
#include "pepe/base/expected.h"

namespace pepe {

/// A host and port to connect to, before its name is looked up.
struct HostPort {
  std::string host;  ///< Without brackets; empty: this machine.
  std::uint16_t port{0};
  friend bool operator==(const HostPort&, const HostPort&) = default;
};

/// "host:port", "[::1]:80", ":80", "host:" (port 0). Error: Go's words (`address 99999: invalid port`).
Expected<HostPort> parse_host_port(std::string_view text);
/// The inverse: brackets around a host with colons.
std::string format_host_port(std::string_view host, std::uint16_t port);

/// The way to an origin.
struct Route {
  HostPort to;                  ///< Where to open the socket: the proxy, if there is one; -connect-to applied.
  const Proxy* proxy{nullptr};  ///< nullptr: none. The plan owns it.
};

/// The DialPlan that make_dial_plan() makes and dialers ask.
class RoutePlan final : public DialPlan {
 public:
  static Expected<std::unique_ptr<RoutePlan>> make(const AttackOptions& options, ProxyRules::Environment proxies);

  void prepare(const Origin& origin) override;
  bool absolute_form(const Origin& origin, std::string* authorization) const override;
  bool may_speak_h2(const Origin& origin) const override { return h2c_ || (offers_h2_ && origin.scheme == "https"); }
  std::uint32_t routes(const Origin& origin) const override;
  std::string notice(const Origin& origin) const override;
  bool names_move() const override { return names_.ttl() > Nanos{0}; }

  /// The way to `origin`, which takes the turn of -connect-to. Error: a destination or a proxy that cannot be
  /// one.
  Expected<Route> route(const Origin& origin);

  /// -h2c: HTTP/2 with every origin, and TLS with none.
  bool h2c() const noexcept { return h2c_; }
  /// HTTP/2 is offered in the TLS handshake.
  bool offers_h2() const noexcept { return offers_h2_; }
  const std::string& unix_socket() const noexcept { return unix_socket_; }
  const std::optional<asio::ip::address>& local() const noexcept { return local_; }
  const TunnelOptions& tunnel_options() const noexcept { return tunnel_options_; }
  NameCache& names() noexcept { return names_; }
  /// The system's names, or those of -resolvers.
  std::unique_ptr<NameService> make_name_service(asio::io_context& io) const;
  /// Made when it is first asked for, which takes some 20 ms for the system's authorities. The Error is for
  /// the dial.
  const Expected<std::unique_ptr<TlsContext>>& tls();
  /// Where one dialer keeps its TLS sessions; nullptr without -session-tickets. The plan's, since connections
  /// that outlive the dialer still store into it.
  TlsTickets* make_tickets();

 private:
  struct Mapping {
    std::vector<std::string> to;
    std::atomic<std::uint32_t> turn{1};  ///< The second destination comes first, as in vegeta.
  };

  RoutePlan(const AttackOptions& options, ProxyRules::Environment proxies);
  Expected<void> read_addresses(const AttackOptions& options);
  const Proxy* proxy(const Origin& origin) const;

  const TlsOptions tls_options_;
  const TunnelOptions tunnel_options_;
  const std::string unix_socket_;
  const bool h2c_;
  const bool offers_h2_;
  std::vector<std::string> resolvers_;  ///< "ip:port"
  std::optional<asio::ip::address> local_;
  std::map<std::string, std::unique_ptr<Mapping>> mappings_;  ///< By "host:port" in small letters.
  const ProxyRules proxies_;
  NameCache names_;
  std::mutex tls_mutex_;  ///< Over the making of tls_, which stays what it is.
  std::optional<Expected<std::unique_ptr<TlsContext>>> tls_;
  std::mutex mutex_;  ///< Of tickets_.
  std::deque<TlsTickets> tickets_;
};

}  // namespace pepe
