#include "engine/dial_plan.h"

#include <charconv>
#include <utility>

#include "engine/shortage.h"
#include "engine/transport.h"
#include "pepe/base/text.h"

namespace pepe {
namespace {

constexpr std::uint16_t kDnsPort = 53;

}  // namespace

Expected<HostPort> parse_host_port(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return Error{"address " + std::string{text} + ": missing port in address"};
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  HostPort parsed{std::string{host}, 0};
  const char* end = port.data() + port.size();
  const auto [stop, code] = std::from_chars(port.data(), end, parsed.port);
  if (!port.empty() && (code != std::errc{} || stop != end)) {
    return Error{"address " + std::string{port} + ": invalid port"};
  }
  return parsed;
}

std::string format_host_port(std::string_view host, std::uint16_t port) {
  const bool brackets = host.find(':') != std::string_view::npos;
  std::string text = brackets ? "[" : "";
  text += host;
  if (brackets) text += ']';
  return text + ":" + std::to_string(port);
}

RoutePlan::RoutePlan(const AttackOptions& options, ProxyRules::Environment proxies)
    : tls_options_{options.tls},
      tunnel_options_{"pepe/" + options.version, options.proxy_headers},
      unix_socket_{options.unix_socket},
      h2c_{options.h2c},
      offers_h2_{options.http2},
      proxies_{std::move(proxies)},
      names_{options.dns_ttl} {}

Expected<std::unique_ptr<RoutePlan>> RoutePlan::make(const AttackOptions& options, ProxyRules::Environment proxies) {
  std::unique_ptr<RoutePlan> plan{new RoutePlan{options, std::move(proxies)}};
  if (Expected<void> read = plan->read_addresses(options); !read) return std::move(read).error();
  for (const ConnectTo& entry : options.connect_to) {
    if (entry.to.empty()) continue;
    std::unique_ptr<Mapping>& mapping = plan->mappings_[lower_case(entry.from)];
    if (!mapping) mapping = std::make_unique<Mapping>();
    mapping->to.insert(mapping->to.end(), entry.to.begin(), entry.to.end());
  }
  const TlsOptions& tls = options.tls;
  if (!tls.root_cert_files.empty() || !tls.cert_file.empty() || !tls.key_file.empty()) {
    if (const auto& made = plan->tls(); !made) return Error{made.error()};
  }
  return plan;
}

Expected<void> RoutePlan::read_addresses(const AttackOptions& options) {
  error_code ec;
  if (!options.local_address.empty()) {
    const asio::ip::address local = asio::ip::make_address(options.local_address, ec);
    if (ec) return Error{"-laddr: " + options.local_address + " is not an IP address"};
    if (!local.is_unspecified()) local_ = local;
  }
  for (const std::string& text : options.resolvers) {
    Expected<HostPort> server = HostPort{text, kDnsPort};
    asio::ip::address address = asio::ip::make_address(text, ec);
    if (ec) {
      server = parse_host_port(text);
      if (server) address = asio::ip::make_address(server->host, ec);
    }
    if (!server || ec || server->port == 0)
      return Error{"-resolvers: " + text + " is not an IP address with an optional port"};
    resolvers_.push_back(format_endpoint(address, server->port));
  }
  return {};
}

void RoutePlan::prepare(const Origin& origin) {
  if (origin.scheme == "https" && !h2c_) tls();
}

const Proxy* RoutePlan::proxy(const Origin& origin) const {
  if (!unix_socket_.empty()) return nullptr;
  const Expected<const Proxy*> found = proxies_.find(origin);
  return found ? *found : nullptr;
}

bool RoutePlan::absolute_form(const Origin& origin, std::string* authorization) const {
  authorization->clear();
  const Proxy* used = proxy(origin);
  if (used == nullptr || origin.scheme != "http" || h2c_ || used->kind == Proxy::Kind::kSocks5) return false;
  *authorization = used->authorization();
  return true;
}

std::uint32_t RoutePlan::routes(const Origin& origin) const {
  if (!unix_socket_.empty()) return 1;
  const Proxy* used = proxy(origin);
  const HostPort to = used == nullptr ? HostPort{origin.host, origin.port} : HostPort{used->host, used->port};
  const auto mapping = mappings_.find(lower_case(format_host_port(to.host, to.port)));
  return mapping == mappings_.end() ? 1 : static_cast<std::uint32_t>(mapping->second->to.size());
}

std::string RoutePlan::notice(const Origin& origin) const {
  const Proxy* used = proxy(origin);
  return used == nullptr ? "" : "requests go through the proxy " + used->display() + " (" + used->variable + ")";
}

Expected<Route> RoutePlan::route(const Origin& origin) {
  const Expected<const Proxy*> used = proxies_.find(origin);
  if (!used) return Error{used.error()};
  Route route{HostPort{origin.host, origin.port}, *used};
  if (route.proxy != nullptr) route.to = {route.proxy->host, route.proxy->port};
  const auto mapping = mappings_.find(lower_case(format_host_port(route.to.host, route.to.port)));
  if (mapping == mappings_.end()) return route;
  const std::vector<std::string>& to = mapping->second->to;
  const std::uint32_t turn =
      origin.route > 0 ? origin.route - 1 : mapping->second->turn.fetch_add(1, std::memory_order_relaxed);
  Expected<HostPort> mapped = parse_host_port(to[turn % to.size()]);
  if (!mapped) return Error{"dial tcp: " + mapped.error().text()};
  route.to = *std::move(mapped);
  return route;
}

const Expected<std::unique_ptr<TlsContext>>& RoutePlan::tls() {
  // No call_once: what is thrown there for want of memory passes through the C library, which ends the process.
  const std::lock_guard lock{tls_mutex_};
  if (!tls_) tls_.emplace(TlsContext::make(tls_options_));
  return *tls_;
}

std::unique_ptr<NameService> RoutePlan::make_name_service(asio::io_context& io) const {
  if (resolvers_.empty()) return make_system_names(io);
  Expected<std::unique_ptr<NameService>> names = make_ares_names(io, resolvers_);
  // The servers were checked above: only memory can be missing.
  require_memory(names.has_value());
  return *std::move(names);
}

TlsTickets* RoutePlan::make_tickets() {
  if (!tls_options_.session_tickets) return nullptr;
  const std::lock_guard lock{mutex_};
  return &tickets_.emplace_back();
}

Expected<std::unique_ptr<DialPlan>> make_dial_plan(const AttackOptions& options) {
  Expected<std::unique_ptr<RoutePlan>> plan = RoutePlan::make(options, ProxyRules::read_environment());
  if (!plan) return std::move(plan).error();
  return std::unique_ptr<DialPlan>{*std::move(plan)};
}

}  // namespace pepe
