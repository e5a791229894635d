#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "pepe/base/check.h"
#include "pepe/target/url.h"

namespace {

bool sendable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7F; });
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == ':' ? std::string{c} : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  return out;
}

void check_request_uri(std::string_view text) {
  const auto url = pepe::parse_request_uri(text);
  if (!url) return;
  // Nothing that ends a line or splits one reaches the wire.
  PEPE_CHECK(sendable(url->path_and_query));
  PEPE_CHECK(sendable(url->authority));
  if (url->authority.empty()) return;

  const std::string userinfo = url->has_userinfo ? escaped(url->userinfo) + "@" : "";
  const auto again = pepe::parse_request_uri(url->scheme + "://" + userinfo + url->authority + url->path_and_query);
  PEPE_CHECK(again);
  PEPE_CHECK(again->scheme == url->scheme && again->userinfo == url->userinfo &&
             again->has_userinfo == url->has_userinfo);
  PEPE_CHECK(again->authority == url->authority && again->port == url->port);
  PEPE_CHECK(again->path_and_query == url->path_and_query);
}

void check_reference(std::string_view text) {
  constexpr std::string_view kBase = "http://u:p@h:1/a/b?c#d";
  const auto resolved = pepe::resolve_reference(kBase, text);
  if (!resolved) return;
  const auto again = pepe::resolve_reference(kBase, *resolved);
  PEPE_CHECK(again);
  PEPE_CHECK(*again == *resolved);
}

}  // namespace

/// What parses prints back to itself and holds nothing that could not be sent; a resolved reference resolves to itself.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  check_request_uri(text);
  check_reference(text);
  return 0;
}
