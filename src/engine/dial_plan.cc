#include "engine/dial_plan.h"

#include <charconv>
#include <utility>

namespace pepe {

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

Expected<std::unique_ptr<RoutePlan>> RoutePlan::make(const AttackOptions& options) {
  std::unique_ptr<RoutePlan> plan{new RoutePlan{options.dns_ttl}};
  plan->unix_socket_ = options.unix_socket;
  if (!options.local_address.empty()) {
    error_code ec;
    const asio::ip::address local = asio::ip::make_address(options.local_address, ec);
    if (ec) return Error{"-laddr: " + options.local_address + " is not an IP address"};
    if (!local.is_unspecified()) plan->local_ = local;
  }
  for (const ConnectTo& entry : options.connect_to) {
    std::unique_ptr<Mapping>& mapping = plan->mappings_[entry.from];
    if (!mapping) mapping = std::make_unique<Mapping>();
    mapping->to.insert(mapping->to.end(), entry.to.begin(), entry.to.end());
  }
  plan->session_tickets_ = options.tls.session_tickets;
  Expected<std::unique_ptr<TlsContext>> tls = TlsContext::make(options.tls);
  if (!tls) return std::move(tls).error();
  plan->tls_ = *std::move(tls);
  return plan;
}

bool RoutePlan::absolute_form(const Origin&, std::string* authorization) const {
  authorization->clear();
  return false;
}

const RoutePlan::Mapping* RoutePlan::find_mapping(const std::string& host_port) const {
  const auto found = mappings_.find(host_port);
  return found == mappings_.end() || found->second->to.empty() ? nullptr : found->second.get();
}

std::uint32_t RoutePlan::routes(const Origin& origin) const {
  if (!unix_socket_.empty()) return 1;
  const Mapping* mapping = find_mapping(format_host_port(origin.host, origin.port));
  return mapping == nullptr ? 1 : static_cast<std::uint32_t>(mapping->to.size());
}

std::string RoutePlan::notice(const Origin&) const { return {}; }

Expected<HostPort> RoutePlan::destination(const Origin& origin) {
  const auto found = mappings_.find(format_host_port(origin.host, origin.port));
  if (found == mappings_.end() || found->second->to.empty()) return HostPort{origin.host, origin.port};
  Mapping& mapping = *found->second;
  const std::uint32_t turn =
      origin.route > 0 ? origin.route - 1 : mapping.turn.fetch_add(1, std::memory_order_relaxed);
  Expected<HostPort> to = parse_host_port(mapping.to[turn % mapping.to.size()]);
  if (!to) return Error{"dial tcp: " + to.error().text()};
  return to;
}

std::unique_ptr<NameService> RoutePlan::make_name_service(asio::io_context& io) const { return make_system_names(io); }

TlsTickets* RoutePlan::make_tickets() {
  if (!session_tickets_) return nullptr;
  const std::lock_guard lock{mutex_};
  return &tickets_.emplace_back();
}

Expected<std::unique_ptr<DialPlan>> make_dial_plan(const AttackOptions& options) {
  Expected<std::unique_ptr<RoutePlan>> plan = RoutePlan::make(options);
  if (!plan) return std::move(plan).error();
  return std::unique_ptr<DialPlan>{*std::move(plan)};
}

}  // namespace pepe
