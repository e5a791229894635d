#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "pepe/base/expected.h"

namespace pepe {

/// What a text is taken for. A request URI (Go's ParseRequestURI) must be absolute or begin with a slash; a reference
/// (Go's Parse) may be relative.
enum class UrlForm { kRequestUri, kReference };

/// The components of a URL, as views of the text that was split (RFC 3986, section 3).
struct UrlParts {
  std::string_view scheme;  ///< As written; empty when absent.
  std::string_view authority;
  bool has_authority{false};
  std::string_view path;  ///< Of a URL such as "mailto:x" what stands after the colon.
  std::string_view query;
  bool has_query{false};
  std::string_view fragment;
  bool has_fragment{false};
};

/// An authority in its parts, decoded.
struct Authority {
  std::string userinfo;
  bool has_userinfo{false};
  std::string host;
  std::string host_and_port;  ///< As a Host header shows it: brackets kept, without zone and without an empty port.
  std::uint16_t port{0};      ///< 0: none written.
};

/// Splits `text` and checks every component but the authority. Error: the bare REASON, in Go's words.
Expected<UrlParts> split_url(std::string_view text, UrlForm form);

/// Error: the bare REASON, in Go's words.
Expected<Authority> parse_authority(std::string_view text);

}  // namespace pepe
