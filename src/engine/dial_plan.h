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

/// The DialPlan that make_dial_plan() makes and dialers ask.
class RoutePlan final : public DialPlan {
 public:
  static Expected<std::unique_ptr<RoutePlan>> make(const AttackOptions& options);

  bool absolute_form(const Origin& origin, std::string* authorization) const override;
  std::uint32_t routes(const Origin& origin) const override;
  std::string notice(const Origin& origin) const override;
  bool names_move() const override { return names_.ttl() > Nanos{0}; }

  /// Where to open the socket for a connection to `origin`: -connect-to applied, and its turn taken. Error: a
  /// destination that cannot be one.
  Expected<HostPort> destination(const Origin& origin);

  const std::string& unix_socket() const noexcept { return unix_socket_; }
  const std::optional<asio::ip::address>& local() const noexcept { return local_; }
  NameCache& names() noexcept { return names_; }
  std::unique_ptr<NameService> make_name_service(asio::io_context& io) const;
  const TlsContext& tls() const noexcept { return *tls_; }
  /// Where one dialer keeps its TLS sessions; nullptr without -session-tickets. The plan's, since connections that
  /// outlive the dialer still store into it.
  TlsTickets* make_tickets();

 private:
  struct Mapping {
    std::vector<std::string> to;
    std::atomic<std::uint32_t> turn{1};  ///< The second destination comes first, as in vegeta.
  };

  explicit RoutePlan(Nanos dns_ttl) : names_{dns_ttl} {}
  const Mapping* find_mapping(const std::string& host_port) const;

  std::string unix_socket_;
  std::optional<asio::ip::address> local_;
  std::map<std::string, std::unique_ptr<Mapping>> mappings_;
  NameCache names_;
  std::unique_ptr<TlsContext> tls_;
  bool session_tickets_{false};
  std::mutex mutex_;  ///< Of tickets_.
  std::deque<TlsTickets> tickets_;
};

}  // namespace pepe
