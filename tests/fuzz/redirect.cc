#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "fuzz/input.h"
#include "fuzz/wire.h"
#include "pepe/base/text.h"
#include "pepe/target/url.h"

namespace {

constexpr int kCodes[] = {301, 302, 303, 307, 308};
constexpr std::string_view kSecrets[] = {"Authorization", "cookie", "Cookie2", "Proxy-Authorization",
                                         "WWW-Authenticate"};
constexpr std::string_view kPassword = "pa:ss@word";

pepe::Target original_target(std::uint8_t how, std::string url) {
  pepe::Target target{.method = (how & 8) != 0 ? "PUT" : "HEAD", .url = std::move(url), .headers = {}, .body = nullptr};
  for (const std::string_view name : kSecrets) target.headers.push_back({std::string{name}, std::string{kPassword}});
  target.headers.push_back({"X-A", "a"});
  target.headers.push_back({"Host", "virtual.test"});
  if ((how & 8) != 0) target.body = std::make_shared<const std::string>("payload");
  if ((how & 16) != 0) target.headers.push_back({"Referer", "own"});
  return target;
}

const std::string* value_of(const pepe::Target& target, std::string_view name) {
  for (const pepe::HeaderField& field : target.headers) {
    if (field.name == name) return &field.value;
  }
  return nullptr;
}

void check_method(const pepe::Target& previous, const pepe::Target& next, int code) {
  const bool same = code >= 307 || previous.method == "HEAD";
  PEPE_CHECK(next.method == (same ? previous.method : "GET"));
  PEPE_CHECK(next.body == (code >= 307 ? previous.body : nullptr));
}

// What only the first host may know is not told to another one, nor in clear text where TLS kept it.
void check_secrets(const pepe::Target& previous, const pepe::Target& next) {
  const auto from = pepe::parse_request_uri(previous.url);
  const auto to = pepe::parse_request_uri(next.url.substr(0, next.url.find('#')));
  PEPE_CHECK(to.has_value());
  PEPE_CHECK(value_of(next, "X-A") != nullptr);
  const bool in_the_clear = from && from->scheme == "https" && to->scheme == "http";
  const bool trusted = from && pepe::equals_ignoring_case(from->host, to->host) && !in_the_clear;
  for (const std::string_view name : kSecrets) PEPE_CHECK((value_of(next, name) != nullptr) == trusted);
  const std::string* const referer = value_of(next, "Referer");
  if (referer == nullptr || *referer == "own") return;
  const auto referring = pepe::parse_request_uri(*referer);
  PEPE_CHECK(referring && !referring->has_userinfo && referring->authority == from->authority);
  PEPE_CHECK(!in_the_clear);
}

}  // namespace

/// The first byte picks the code and the first request; a line is the URL that answered, the next its Location. Where
/// it leads to can be sent as one request, tells no secrets to another host, and leads to itself.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pepe::fuzz::Input input{data, size};
  const std::uint8_t how = input.byte();
  const int code = kCodes[how % 8 % std::size(kCodes)];
  const pepe::Target first = original_target(how, std::string{input.line()});
  const std::string_view location = input.rest();
  if (!pepe::make_request(first, {}).fault.empty()) return 0;
  const auto next = pepe::follow_redirect(first, first, code, location);
  if (!next) {
    PEPE_CHECK(next.error().text().starts_with("failed to parse Location header"));
    return 0;
  }
  check_method(first, *next, code);
  check_secrets(first, *next);
  pepe::fuzz::check_wire(*next, {.user_agent = "pepe"});
  // A reference without a path keeps that of its base, dot segments and all; an absolute one has none.
  const auto second = pepe::follow_redirect(first, *next, code, next->url);
  PEPE_CHECK(second.has_value());
  const auto third = pepe::follow_redirect(first, *second, code, second->url);
  PEPE_CHECK(third && third->url == second->url);
  return 0;
}
