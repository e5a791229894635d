#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "pepe/base/expected.h"

namespace pepe {

/// The parts of an absolute URL that a request needs. Plain values; owns its strings.
struct Url {
  std::string scheme;    ///< Lower case: "http", "https", or whatever was written.
  std::string userinfo;  ///< "user:password", percent-decoded; empty when absent.
  bool has_userinfo{false};
  std::string host;       ///< Without brackets and zone brackets: "127.0.0.1", "::1", "example.test". May be empty.
  std::string authority;  ///< host[:port] as written, brackets kept: the default of the Host header.
  std::uint16_t port{0};  ///< 0: none written.
  std::string path_and_query;  ///< What goes on the request line: at least "/"; escapes kept, blanks and bytes outside
                               ///< ASCII percent-encoded; without fragment.

  /// `port`, or the default one of the scheme (80, 443).
  std::uint16_t port_or_default() const noexcept;
};

/// Parses as Go's url.ParseRequestURI does: an absolute URL, or a path (scheme and host stay empty).
/// Error: Go's words, `parse "URL": REASON`, with credentials shown as *** and a long URL cut.
Expected<Url> parse_request_uri(std::string_view text);

/// Resolves `reference` (a Location header) against `base`, RFC 3986 section 5.3. Returns the absolute URL as text,
/// fragment kept. Error: Go's words, `parse "REFERENCE": REASON`.
Expected<std::string> resolve_reference(std::string_view base, std::string_view reference);

}  // namespace pepe
