#include "engine/proxy.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <utility>

#include "engine/dial_plan.h"
#include "pepe/base/text.h"
#include "pepe/target/url.h"

namespace pepe {
namespace {

constexpr std::uint16_t kSocksPort = 1080;

// The upper-case form comes first, and an empty variable is as good as none.
std::optional<Expected<Proxy>> proxy_variable(const char* upper) {
  for (const std::string& name : {std::string{upper}, lower_case(upper)}) {
    const char* value = std::getenv(name.c_str());
    if (value != nullptr && *value != '\0') return parse_proxy(name, value);
  }
  return std::nullopt;
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (text.empty() || code != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
  return port;
}

template <class Network, class Address>
bool holds(const Network& network, const Address& address) {
  return Network{address, network.prefix_length()}.canonical() == network.canonical();
}

}  // namespace

std::string Proxy::display() const {
  constexpr std::string_view kSchemes[] = {"http", "https", "socks5"};
  return std::string{kSchemes[static_cast<std::size_t>(kind)]} + "://" + format_host_port(host, port);
}

std::string Proxy::authorization() const {
  if (!credentials) return {};
  std::string value = "Basic ";
  append_base64(*credentials, value);
  return value;
}

std::string Proxy::error_prefix(std::string_view destination) const {
  if (kind != Kind::kSocks5) return "proxyconnect tcp: ";
  return "socks connect tcp " + format_host_port(host, port) + "->" + std::string{destination} + ": ";
}

Expected<Proxy> parse_proxy(std::string_view variable, std::string_view value) {
  const Error unusable{"proxyconnect tcp: " + std::string{variable} +
                       " names no proxy: want http://[user:password@]host:port, https or socks5"};
  const bool has_scheme = value.find("://") != std::string_view::npos;
  Expected<Url> url = parse_request_uri(has_scheme ? std::string{value} : "http://" + std::string{value});
  if (!url || url->host.empty()) return unusable;
  Proxy proxy;
  proxy.variable = variable;
  proxy.host = url->host;
  proxy.port = url->port_or_default();
  if (url->scheme == "http") {
    proxy.kind = Proxy::Kind::kHttp;
  } else if (url->scheme == "https") {
    proxy.kind = Proxy::Kind::kHttps;
  } else if (url->scheme == "socks5" || url->scheme == "socks5h") {
    proxy.kind = Proxy::Kind::kSocks5;
    if (url->port == 0) proxy.port = kSocksPort;
  } else {
    return unusable;
  }
  if (url->has_userinfo) {
    proxy.credentials = url->userinfo;
    if (url->userinfo.find(':') == std::string::npos) *proxy.credentials += ':';
  }
  return proxy;
}

ProxyExceptions::ProxyExceptions(std::string_view no_proxy) {
  while (!no_proxy.empty()) {
    const std::size_t comma = std::min(no_proxy.find(','), no_proxy.size());
    add(lower_case(trim(no_proxy.substr(0, comma))));
    no_proxy.remove_prefix(std::min(comma + 1, no_proxy.size()));
  }
}

void ProxyExceptions::add(std::string entry) {
  if (entry.empty()) return;
  if (entry == "*") {
    all_ = true;
    return;
  }
  Rule rule;
  error_code ec;
  if (entry.find('/') != std::string::npos) {
    const auto v4 = asio::ip::make_network_v4(entry, ec);
    if (!ec) rule.v4 = v4;
    const auto v6 = asio::ip::make_network_v6(entry, ec);
    if (!ec) rule.v6 = v6;
    if (rule.v4 || rule.v6) rules_.push_back(std::move(rule));
    return;
  }
  const bool is_bare_v6 = entry.front() != '[' && std::count(entry.begin(), entry.end(), ':') > 1;
  const std::size_t colon = is_bare_v6 ? std::string::npos : entry.rfind(':');
  if (colon != std::string::npos && entry.back() != ']') {
    rule.port = parse_port(std::string_view{entry}.substr(colon + 1));
    if (!rule.port) return;
    entry.resize(colon);
  }
  if (entry.size() >= 2 && entry.front() == '[' && entry.back() == ']') entry = entry.substr(1, entry.size() - 2);
  if (entry.empty()) return;
  const asio::ip::address address = asio::ip::make_address(entry, ec);
  if (!ec && address.is_v4()) {
    rule.v4 = asio::ip::network_v4{address.to_v4(), 32};
  } else if (!ec) {
    rule.v6 = asio::ip::network_v6{address.to_v6(), 128};
  } else {
    if (entry.starts_with("*.")) entry.erase(0, 1);
    rule.also_itself = entry.front() != '.';
    rule.suffix = rule.also_itself ? "." + entry : entry;
  }
  rules_.push_back(std::move(rule));
}

bool ProxyExceptions::contains(const std::string& raw_host, std::uint16_t port) const {
  const std::string host = lower_case(raw_host);
  error_code ec;
  const asio::ip::address address = asio::ip::make_address(host, ec);
  const bool is_address = !ec;
  if (host.empty() || host == "localhost" || (is_address && address.is_loopback()) || all_) return true;
  return std::any_of(rules_.begin(), rules_.end(), [&](const Rule& rule) {
    if (rule.port && *rule.port != port) return false;
    if (!rule.suffix.empty()) {
      return host.ends_with(rule.suffix) || (rule.also_itself && host == std::string_view{rule.suffix}.substr(1));
    }
    if (!is_address) return false;
    return address.is_v4() ? rule.v4 && holds(*rule.v4, address.to_v4()) : rule.v6 && holds(*rule.v6, address.to_v6());
  });
}

ProxyRules::Environment ProxyRules::read_environment() {
  Environment environment;
  // In a CGI program, HTTP_PROXY is what the client sent as its Proxy header.
  if (std::getenv("REQUEST_METHOD") == nullptr) environment.http = proxy_variable("HTTP_PROXY");
  environment.https = proxy_variable("HTTPS_PROXY");
  for (const char* name : {"NO_PROXY", "no_proxy"}) {
    const char* value = std::getenv(name);
    if (environment.no_proxy.empty() && value != nullptr) environment.no_proxy = value;
  }
  return environment;
}

Expected<const Proxy*> ProxyRules::find(const Origin& origin) const {
  const std::optional<Expected<Proxy>>& proxy = origin.scheme == "https" ? environment_.https : environment_.http;
  if (!proxy || exceptions_.contains(origin.host, origin.port)) return nullptr;
  if (!*proxy) return Error{proxy->error()};
  return &**proxy;
}

}  // namespace pepe
