#include "target/url_parts.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "pepe/base/control.h"
#include "pepe/base/text.h"

namespace pepe {
namespace {

bool digit(char c) noexcept { return c >= '0' && c <= '9'; }
bool letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool one_of(char c, std::string_view set) noexcept { return set.find(c) != std::string_view::npos; }
bool ascii(char c) noexcept { return static_cast<unsigned char>(c) < 0x80; }

int hex_value(char c) noexcept {
  if (digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The characters that stand for themselves in each component, besides letters and digits.
constexpr std::string_view kHostMarks = "-_.~!$&'()*+,;=:[]<>\"";
constexpr std::string_view kUserinfoMarks = "-._:~!$&'()*+,;=%@";

Error bad_escape(std::string_view text) { return Error{"invalid URL escape " + quote(text.substr(0, 3))}; }

/// The byte that an escape at the start of `text` stands for; nullopt when it is none.
std::optional<char> escaped_byte(std::string_view text) noexcept {
  if (text.size() < 3) return std::nullopt;
  const int high = hex_value(text[1]);
  const int low = hex_value(text[2]);
  if (high < 0 || low < 0) return std::nullopt;
  return static_cast<char>(high << 4 | low);
}

std::optional<Error> check_escapes(std::string_view text) {
  for (std::size_t at = text.find('%'); at != std::string_view::npos; at = text.find('%', at + 1)) {
    if (!escaped_byte(text.substr(at))) return bad_escape(text.substr(at));
  }
  return std::nullopt;
}

Expected<std::string> decode(std::string_view text) {
  if (const auto fault = check_escapes(text)) return *fault;
  std::string out;
  for (; !text.empty(); text.remove_prefix(text[0] == '%' ? 3 : 1))
    out += text[0] == '%' ? *escaped_byte(text) : text[0];
  return out;
}

/// A host name or the inside of brackets up to a zone. Escapes may only stand for bytes outside ASCII there.
std::optional<Error> check_host(std::string_view host) {
  for (std::size_t i = 0; i < host.size(); ++i) {
    const char c = host[i];
    if (c == '%') {
      const std::optional<char> byte = escaped_byte(host.substr(i));
      if (!byte || ascii(*byte)) return bad_escape(host.substr(i));
    }
    if (c == '%' || !ascii(c))
      return Error{"host name outside ASCII: want its form in letters, digits and dots (xn--...)"};
    if (!letter(c) && !digit(c) && !one_of(c, kHostMarks)) {
      return Error{"invalid character " + quote(host.substr(i, 1)) + " in host name"};
    }
  }
  return std::nullopt;
}

/// `text` is what follows the host: nothing, or a colon and a port (which may be empty). 0: none written.
Expected<std::uint16_t> parse_port(std::string_view text) {
  if (text.empty() || text == ":") return std::uint16_t{0};
  const auto bad = [text] { return Error{"invalid port " + quote(text) + " after host"}; };
  const std::string_view digits = text.substr(1);
  if (text[0] != ':' || !std::all_of(digits.begin(), digits.end(), digit)) return bad();
  std::uint16_t port = 0;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (fault != std::errc{} || port == 0) return Error{bad().text() + ": want 1 to 65535"};
  return port;
}

Expected<std::string> parse_userinfo(std::string_view text) {
  const bool valid =
      std::all_of(text.begin(), text.end(), [](char c) { return letter(c) || digit(c) || one_of(c, kUserinfoMarks); });
  if (!valid) return Error{"net/url: invalid userinfo"};
  return decode(text);
}

/// "[ADDRESS%25ZONE]", brackets included: ADDRESS and, decoded, ZONE.
struct Literal {
  std::string_view address;
  std::string zone;
};

Expected<Literal> parse_literal(std::string_view text) {
  const std::string_view inside = text.substr(1, text.size() - 2);
  const std::size_t percent = inside.find("%25");
  const std::string_view address = inside.substr(0, percent);
  if (const auto fault = check_host(address)) return *fault;
  const bool plausible =
      address.find(':') != std::string_view::npos &&
      std::all_of(address.begin(), address.end(), [](char c) { return hex_value(c) >= 0 || c == ':' || c == '.'; });
  if (!plausible) return Error{"invalid host: " + quote(text) + " is no IPv6 address"};
  if (percent == std::string_view::npos) return Literal{address, {}};
  auto zone = decode(inside.substr(percent + 3));
  if (!zone) return std::move(zone).error();
  if (std::any_of(zone->begin(), zone->end(), [](char c) { return is_control(c) || c == ' ' || !ascii(c); })) {
    return Error{"invalid zone in host " + quote(text)};
  }
  return Literal{address, *std::move(zone)};
}

/// Takes a scheme and its colon off the front of `rest`, if one is there.
std::optional<Error> take_scheme(std::string_view& rest, std::string_view& scheme) {
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const char c = rest[i];
    if (letter(c) || (i > 0 && (digit(c) || one_of(c, "+-.")))) continue;
    if (c != ':') return std::nullopt;
    if (i == 0) return Error{"missing protocol scheme"};
    scheme = rest.substr(0, i);
    rest.remove_prefix(i + 1);
    return std::nullopt;
  }
  return std::nullopt;
}

/// Cuts `rest` at the first `mark`. True when there is one; `tail` is then what follows it.
bool cut(std::string_view& rest, char mark, std::string_view& tail) noexcept {
  const std::size_t at = rest.find(mark);
  if (at == std::string_view::npos) return false;
  tail = rest.substr(at + 1);
  rest = rest.substr(0, at);
  return true;
}

}  // namespace

Expected<UrlParts> split_url(std::string_view text, UrlForm form) {
  if (has_control(text)) return Error{"net/url: invalid control character in URL"};
  const bool request = form == UrlForm::kRequestUri;
  if (text.empty() && request) return Error{"empty url"};

  UrlParts parts;
  std::string_view rest = text;
  parts.has_fragment = cut(rest, '#', parts.fragment);
  if (const auto fault = check_escapes(parts.fragment)) return *fault;
  if (rest == "*") return parts.path = rest, parts;
  if (const auto fault = take_scheme(rest, parts.scheme)) return *fault;
  parts.has_query = cut(rest, '?', parts.query);
  const bool rooted = !rest.empty() && rest[0] == '/';

  if (!rooted && parts.scheme.empty()) {
    if (request) return Error{"invalid URI for request"};
    // A colon there is a scheme that was spelled wrongly, not a path (RFC 3986, section 3.3).
    if (rest.substr(0, rest.find('/')).find(':') != std::string_view::npos) {
      return Error{"first path segment in URL cannot contain colon"};
    }
  }
  parts.path = rest;
  if (!rooted && !parts.scheme.empty()) return parts;

  const bool may_have_authority = !parts.scheme.empty() || (!request && rest.substr(0, 3) != "///");
  if (may_have_authority && rest.substr(0, 2) == "//") {
    parts.has_authority = true;
    parts.authority = rest.substr(2, rest.substr(2).find('/'));
    parts.path = rest.substr(2 + parts.authority.size());
  }
  if (const auto fault = check_escapes(parts.path)) return *fault;
  return parts;
}

Expected<Authority> parse_authority(std::string_view text) {
  Authority authority;
  // The last @ ends the userinfo: a password may hold one.
  const std::size_t at = text.rfind('@');
  const std::string_view host = at == std::string_view::npos ? text : text.substr(at + 1);
  const bool bracketed = !host.empty() && host[0] == '[';
  const std::size_t bracket = host.rfind(']');
  if (bracketed && bracket == std::string_view::npos) return Error{"missing ']' in host"};
  const std::size_t name_end = bracketed ? bracket + 1 : std::min(host.find(':'), host.size());
  const std::string_view name = host.substr(0, name_end);

  const auto port = parse_port(host.substr(name_end));
  if (!port) return port.error();
  authority.port = *port;
  if (bracketed) {
    const auto literal = parse_literal(name);
    if (!literal) return literal.error();
    authority.host = std::string{literal->address} + (literal->zone.empty() ? "" : "%" + literal->zone);
    authority.host_and_port = "[" + std::string{literal->address} + "]";
  } else {
    if (const auto fault = check_host(name)) return *fault;
    authority.host = name;
    authority.host_and_port = name;
  }
  if (authority.port != 0) authority.host_and_port += host.substr(name_end);

  if (at == std::string_view::npos) return authority;
  auto userinfo = parse_userinfo(text.substr(0, at));
  if (!userinfo) return std::move(userinfo).error();
  authority.has_userinfo = true;
  authority.userinfo = *std::move(userinfo);
  return authority;
}

}  // namespace pepe
