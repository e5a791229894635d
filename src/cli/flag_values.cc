#include "cli/flag_values.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "pepe/base/control.h"
#include "pepe/base/text.h"
#include "pepe/result/codec.h"

namespace pepe {
namespace {

Error parse_error() { return Error{"parse error"}; }
Error out_of_range() { return Error{"value out of range"}; }

/// The digits of a literal behind its prefix.
struct Digits {
  std::string_view text;
  unsigned base;
  bool prefixed;  ///< An underscore may stand before the first digit.
};

Digits split_prefix(std::string_view text) {
  if (text.size() < 2 || text.front() != '0') return {text, 10, false};
  switch (text[1]) {
    case 'x':
    case 'X': return {text.substr(2), 16, true};
    case 'o':
    case 'O': return {text.substr(2), 8, true};
    case 'b':
    case 'B': return {text.substr(2), 2, true};
    default: return {text.substr(1), 8, true};
  }
}

unsigned digit_value(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A') + 10;
  return std::numeric_limits<unsigned>::max();
}

bool is_address(const std::string& text, int family) {
  std::array<unsigned char, sizeof(in6_addr)> binary{};
  return inet_pton(family, text.c_str(), binary.data()) == 1;
}

/// The parts of `text` between colons; colons in brackets do not count.
std::vector<std::string> split_at_colons(std::string_view text) {
  std::vector<std::string> parts{1};
  bool in_brackets = false;
  for (const char c : text) {
    if (c == '[') in_brackets = true;
    if (c == ']') in_brackets = false;
    if (c == ':' && !in_brackets) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

/// One name server as "ip:port"; nullopt when it is no address or has a bad port.
std::optional<std::string> normalise_resolver(std::string_view entry) {
  std::string host{entry};
  std::string port = "53";
  if (is_address(host, AF_INET6)) return fmt::format("[{}]:{}", host, port);
  const std::size_t colon = entry.rfind(':');
  if (colon != std::string_view::npos && !entry.ends_with(']')) {
    host = entry.substr(0, colon);
    port = entry.substr(colon + 1);
  }
  std::uint16_t number = 0;
  const auto [end, fault] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (fault != std::errc{} || end != port.data() + port.size()) return std::nullopt;
  if (is_address(host, AF_INET)) return host + ":" + port;
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed && is_address(host.substr(1, host.size() - 2), AF_INET6)) return host + ":" + port;
  return std::nullopt;
}

}  // namespace

Expected<bool> parse_bool(std::string_view text) {
  for (const std::string_view yes : {"1", "t", "T", "TRUE", "true", "True"}) {
    if (text == yes) return true;
  }
  for (const std::string_view no : {"0", "f", "F", "FALSE", "false", "False"}) {
    if (text == no) return false;
  }
  return parse_error();
}

Expected<std::uint64_t> parse_uint(std::string_view text) {
  if (text == "0") return std::uint64_t{0};
  const Digits digits = split_prefix(text);
  bool after_digit = digits.prefixed;
  bool overflow = false;
  std::uint64_t value = 0;
  for (const char c : digits.text) {
    if (c == '_' && after_digit) {
      after_digit = false;
      continue;
    }
    const unsigned digit = digit_value(c);
    if (digit >= digits.base) return parse_error();
    after_digit = true;
    overflow =
        overflow || __builtin_mul_overflow(value, digits.base, &value) || __builtin_add_overflow(value, digit, &value);
  }
  if (digits.text.empty() || !after_digit) return parse_error();
  if (overflow) return out_of_range();
  return value;
}

Expected<std::int64_t> parse_int(std::string_view text) {
  const bool negative = text.starts_with('-');
  const auto magnitude = parse_uint(text.substr(negative || text.starts_with('+') ? 1 : 0));
  if (!magnitude) return magnitude.error();
  const std::uint64_t limit = std::uint64_t{std::numeric_limits<std::int64_t>::max()} + (negative ? 1 : 0);
  if (*magnitude > limit) return out_of_range();
  return static_cast<std::int64_t>(negative ? std::uint64_t{0} - *magnitude : *magnitude);
}

Expected<HeaderField> parse_header(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return Error{"want \"Name: value\""};
  HeaderField field{std::string{trim(text.substr(0, colon))}, std::string{trim(text.substr(colon + 1))}};
  if (field.name.empty() || field.value.empty()) return Error{"want \"Name: value\", neither side empty"};
  if (has_control(field.name) || !is_header_value(field.value))
    return Error{"want no line break or other control character"};
  return field;
}

Expected<void> add_connect_to(std::string_view text, std::vector<ConnectTo>& entries) {
  const std::vector<std::string> parts = split_at_colons(text);
  if (parts.size() != 4) return Error{"want SRC:PORT:DST:PORT (an IPv6 address in brackets)"};
  // An entry that matches no URL would let the hits go to the very host that they are to be kept from.
  const auto port = parse_uint(parts[1]);
  if (!port || *port == 0 || *port > 65535 || std::to_string(*port) != parts[1])
    return Error{fmt::format("the first port is {}: want a number from 1 to 65535", quote(parts[1]))};
  const std::string from = parts[0] + ":" + parts[1];
  std::string to = parts[2] + ":" + parts[3];
  const auto known =
      std::find_if(entries.begin(), entries.end(), [&from](const ConnectTo& entry) { return entry.from == from; });
  if (known == entries.end()) {
    entries.push_back({from, {std::move(to)}});
  } else {
    known->to.push_back(std::move(to));
  }
  return {};
}

std::vector<std::string> split_list(std::string_view list) {
  std::vector<std::string> items;
  while (true) {
    const std::size_t comma = list.find(',');
    items.emplace_back(list.substr(0, comma));
    if (comma == std::string_view::npos) return items;
    list.remove_prefix(comma + 1);
  }
}

Expected<std::vector<std::string>> parse_resolvers(std::string_view list) {
  std::vector<std::string> servers;
  for (const std::string& entry : split_list(list)) {
    auto server = normalise_resolver(trim(entry));
    if (!server) return Error{fmt::format("bad -resolvers entry {}: want IP[:PORT]", quote(entry))};
    servers.push_back(*std::move(server));
  }
  return servers;
}

Error unknown_encoding(std::string_view command, std::string_view name) {
  std::string known;
  for (const CodecEntry& codec : codecs()) known += fmt::format("{}{}", known.empty() ? "" : ", ", codec.name);
  return Error{fmt::format("{}: unknown encoding {}: want one of {}", command, quote(name), known)};
}

Expected<unsigned> parse_threads(std::string_view text) {
  if (text == "auto") return 0U;
  constexpr std::uint64_t kMost = 1024;
  const auto count = parse_uint(text);
  if (!count || *count == 0 || *count > kMost) return Error{fmt::format("want auto, or a number from 1 to {}", kMost)};
  return static_cast<unsigned>(*count);
}

Expected<std::string> resolve_local_address(std::string_view text) {
  const std::string name{text};
  if (name == "0.0.0.0" || name == "::" || name.empty()) return std::string{};
  if (is_address(name, AF_INET) || is_address(name, AF_INET6)) return name;
  // No name consists of digits and dots: not worth a question to a name server.
  if (name.find_first_not_of("0123456789.") == std::string::npos) return Error{"no such address"};
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failure = getaddrinfo(name.c_str(), nullptr, &hints, &found);
  if (failure != 0) return Error{fmt::format("lookup {}: {}", name, gai_strerror(failure))};
  std::array<char, NI_MAXHOST> numeric{};
  const int unnamed = getnameinfo(found->ai_addr, found->ai_addrlen, numeric.data(),
                                  static_cast<socklen_t>(numeric.size()), nullptr, 0, NI_NUMERICHOST);
  freeaddrinfo(found);
  if (unnamed != 0) return Error{fmt::format("lookup {}: {}", name, gai_strerror(unnamed))};
  return std::string{numeric.data()};
}

}  // namespace pepe
