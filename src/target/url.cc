#include "pepe/target/url.h"

#include <string>

#include <fmt/format.h>

#include "pepe/base/text.h"
#include "target/url_parts.h"

namespace pepe {
namespace {

Error parse_error(std::string_view text, const Error& fault) {
  constexpr std::size_t kShown = 2048;
  const std::string whole = without_credentials(text);
  const std::string_view shown = std::string_view{whole}.substr(0, kShown);
  std::string reason = fault.text();
  // What is quoted there may be a piece of what is hidden here.
  const std::size_t open = reason.find('"');
  if (open != std::string::npos && whole != text) reason.replace(open + 1, reason.rfind('"') - open - 1, kHidden);
  return Error{fmt::format("parse {}{}: {}", quote(shown), whole.size() > kShown ? "..." : "", reason)};
}

// What a path may not show as itself. In a query, only blanks and bytes outside ASCII: servers see the rest as written.
constexpr std::string_view kEscapedInPath = " \"<>\\^`{|}";
constexpr std::string_view kEscapedInQuery = " ";

/// Appends `text` with `escaped` and the bytes outside ASCII percent-encoded. Escapes that are there stay as they are.
void append_escaped(std::string_view text, std::string_view escaped, std::string& out) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 && escaped.find(c) == std::string_view::npos) {
      out += c;
    } else {
      out += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
}

/// `path` without its "." and ".." segments, beginning with a slash (RFC 3986, section 5.2.4).
std::string without_dot_segments(std::string_view path) {
  std::string out;
  if (!path.empty() && path[0] == '/') path.remove_prefix(1);
  for (bool more = true; more;) {
    const std::size_t slash = path.find('/');
    const std::string_view segment = path.substr(0, slash);
    more = slash != std::string_view::npos;
    if (more) path.remove_prefix(slash + 1);
    if (segment == "..") out.resize(out.empty() ? 0 : out.rfind('/'));
    const bool dots = segment == "." || segment == "..";
    // Dots at the end leave the directory, with its slash.
    if (!dots) out.append("/").append(segment);
    if (dots && !more) out += '/';
  }
  return out;
}

/// `path`, relative to the directory of `base_path` (RFC 3986, section 5.2.3).
std::string merge(std::string_view base_path, std::string_view path) {
  const std::size_t slash = base_path.rfind('/');
  const std::string_view directory = slash == std::string_view::npos ? "/" : base_path.substr(0, slash + 1);
  return std::string{directory}.append(path);
}

/// A component and the mark before it, when it is there.
void append_part(bool present, std::string_view mark, std::string_view text, std::string& out) {
  if (present) out.append(mark).append(text);
}

}  // namespace

std::uint16_t Url::port_or_default() const noexcept {
  if (port != 0) return port;
  return scheme == "https" ? 443 : 80;
}

Expected<Url> parse_request_uri(std::string_view text) {
  const auto parts = split_url(text, UrlForm::kRequestUri);
  if (!parts) return parse_error(text, parts.error());
  auto authority = parse_authority(parts->authority);
  if (!authority) return parse_error(text, authority.error());

  Url url;
  url.scheme = lower_case(parts->scheme);
  url.userinfo = std::move(authority->userinfo);
  url.has_userinfo = authority->has_userinfo;
  url.host = std::move(authority->host);
  url.authority = std::move(authority->host_and_port);
  url.port = authority->port;
  url.path_and_query.reserve(parts->path.size() + parts->query.size() + 2);
  append_escaped(parts->path.empty() ? "/" : parts->path, kEscapedInPath, url.path_and_query);
  if (parts->has_query) {
    url.path_and_query += '?';
    append_escaped(parts->query, kEscapedInQuery, url.path_and_query);
  }
  return url;
}

Expected<std::string> resolve_reference(std::string_view base, std::string_view reference) {
  const auto from = split_url(base, UrlForm::kRequestUri);
  if (!from) return parse_error(base, from.error());
  const auto to = split_url(reference, UrlForm::kReference);
  if (!to) return parse_error(reference, to.error());
  if (const auto authority = parse_authority(to->authority); !authority)
    return parse_error(reference, authority.error());

  std::string out = lower_case(to->scheme.empty() ? from->scheme : to->scheme) + ":";
  // As for Go, an authority without a single character ("//") is none.
  const bool own_authority = !to->authority.empty() || !to->scheme.empty();
  const bool rooted = !to->path.empty() && to->path[0] == '/';
  const bool same_document = !own_authority && to->path.empty() && !to->has_query;
  const UrlParts& authority = own_authority ? *to : *from;
  append_part(authority.has_authority, "//", authority.authority, out);

  std::string path;
  if (to->path.empty()) {
    path = own_authority ? "" : from->path;
  } else if (own_authority && !rooted) {
    path = to->path;  // "mailto:x": nothing to resolve
  } else {
    path = without_dot_segments(rooted ? std::string{to->path} : merge(from->path, to->path));
  }
  // Without an authority, two slashes would begin one (RFC 3986, section 5.2.4 leaves that open, section 3.3 forbids
  // it).
  if (!authority.has_authority && path.starts_with("//")) out += "/.";
  append_escaped(path, kEscapedInPath, out);
  const UrlParts& query = same_document ? *from : *to;
  if (query.has_query) out += '?';
  append_escaped(query.query, kEscapedInQuery, out);
  const UrlParts& fragment = same_document && to->fragment.empty() ? *from : *to;
  append_part(!fragment.fragment.empty(), "#", fragment.fragment, out);
  return out;
}

}  // namespace pepe
