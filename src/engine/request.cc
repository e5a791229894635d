#include "engine/request.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "pepe/base/control.h"
#include "pepe/base/text.h"
#include "pepe/target/url.h"

namespace pepe {
namespace {

// A body up to this size is copied behind the head, so that one send() carries both.
constexpr std::size_t kInlineBodyBytes = 4096;

constexpr std::string_view kSequenceHeader = "X-Vegeta-Seq";
constexpr std::string_view kAttackHeader = "X-Vegeta-Attack";

bool is_token_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view{"!#$%&'*+-.^_`|~"}.find(c) != std::string_view::npos;
}

bool is_token(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), is_token_char); }

std::optional<std::string_view> first_value(const Target& target, std::string_view name) {
  for (const HeaderField& field : target.headers)
    if (field.name == name) return field.value;
  return std::nullopt;
}

// Headers that the request line's own part or the framing already says; their exact spelling only, as in vegeta.
bool is_made_elsewhere(std::string_view name, bool attack_has_name) {
  static constexpr std::string_view kNames[] = {"Host",    "User-Agent",   "Content-Length", "Transfer-Encoding",
                                                "Trailer", kSequenceHeader};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames) ||
         (attack_has_name && name == kAttackHeader);
}

std::string base64(std::string_view bytes) {
  std::string out;
  append_base64(bytes, out);
  return out;
}

// The first thing that keeps `target` from being sent, or an empty text.
std::string find_fault(const Target& target, const Expected<Url>& url, std::string_view attack) {
  if (!is_token(target.method)) return fmt::format("net/http: invalid method {}", quote(target.method));
  const std::string prefix = error_prefix(target.method, target.url);
  if (!url) return prefix + url.error().text();
  for (const HeaderField& field : target.headers) {
    if (!is_token(field.name))
      return fmt::format("{}net/http: invalid header field name {}", prefix, quote(field.name));
    if (!is_header_value(field.value))
      return fmt::format("{}net/http: invalid header field value for {}", prefix, quote(field.name));
  }
  if (!is_header_value(attack))
    return fmt::format("{}net/http: invalid header field value for \"{}\"", prefix, kAttackHeader);
  if (url->scheme != "http" && url->scheme != "https")
    return fmt::format("{}unsupported protocol scheme \"{}\"", prefix, url->scheme);
  if (url->authority.empty()) return prefix + "http: no Host in request URL";
  return {};
}

void append_framing(const Target& target, bool chunked, std::string& head) {
  if (target.body == nullptr || target.body->empty()) {
    if (target.method == "POST" || target.method == "PUT" || target.method == "PATCH") head += "Content-Length: 0\r\n";
  } else if (chunked) {
    head += "Transfer-Encoding: chunked\r\n";
  } else {
    head += fmt::format("Content-Length: {}\r\n", target.body->size());
  }
}

void append_own_headers(const Target& target, bool attack_has_name, std::string& head) {
  std::vector<const HeaderField*> fields;
  for (const HeaderField& field : target.headers)
    if (!is_made_elsewhere(field.name, attack_has_name)) fields.push_back(&field);
  std::stable_sort(fields.begin(), fields.end(),
                   [](const HeaderField* a, const HeaderField* b) { return a->name < b->name; });
  for (const HeaderField* field : fields) head += fmt::format("{}: {}\r\n", field->name, trim(field->value));
}

void append_authorization(const Target& target, const Url& url, std::string& head) {
  if (url.has_userinfo && !first_value(target, "Authorization")) {
    const std::string credentials = url.userinfo.find(':') == std::string::npos ? url.userinfo + ":" : url.userinfo;
    head += fmt::format("Authorization: Basic {}\r\n", base64(credentials));
  }
}

bool asks_to_close(const Target& target) {
  const auto value = first_value(target, "Connection");
  return value && (*value == "close" || *value == "Close");
}

void append_head(const Target& target, const Url& url, const RequestOptions& options, Request& request) {
  std::string& head = request.head;
  std::string authorization;
  const bool absolute = options.plan != nullptr && options.plan->absolute_form(request.origin, &authorization);
  head = fmt::format("{} {}{} HTTP/1.1\r\n", target.method,
                     absolute ? url.scheme + "://" + url.authority : std::string{}, url.path_and_query);
  head += fmt::format("Host: {}\r\n", first_value(target, "Host").value_or(url.authority));
  const auto agent = first_value(target, "User-Agent");
  if (!agent || !agent->empty()) head += fmt::format("User-Agent: {}\r\n", agent.value_or(options.user_agent));
  append_framing(target, options.chunked, head);
  append_authorization(target, url, head);
  if (!authorization.empty()) head += fmt::format("Proxy-Authorization: {}\r\n", authorization);
  append_own_headers(target, !options.attack.empty(), head);
  if (request.inflate) head += "Accept-Encoding: gzip\r\n";
  if (request.close && !asks_to_close(target)) head += "Connection: close\r\n";
  if (!options.attack.empty()) head += fmt::format("{}: {}\r\n", kAttackHeader, options.attack);
  head += fmt::format("{}: ", kSequenceHeader);
}

std::string lower(std::string_view text) {
  std::string out{text};
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
  return out;
}

// What HTTP/2 says by other means, or forbids (RFC 9113 8.2.2).
bool is_left_out_of_http2(const std::string& name, std::string_view value) {
  static constexpr std::string_view kNames[] = {"connection", "keep-alive", "proxy-connection", "transfer-encoding",
                                                "upgrade",    "host",       "content-length",   "trailer"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames) ||
         (name == "te" && value != "trailers");
}

// The fields of HTTP/2 come out of the same target by the same rules as the head of HTTP/1.1.
void add_fields(const Target& target, const Url& url, const RequestOptions& options, Request& request) {
  auto& fields = request.fields;
  fields = {{":method", target.method},
            {":scheme", url.scheme},
            {":authority", std::string{first_value(target, "Host").value_or(url.authority)}},
            {":path", url.path_and_query}};
  std::string head;
  append_authorization(target, url, head);
  append_own_headers(target, !options.attack.empty(), head);
  bool has_agent = first_value(target, "User-Agent").has_value();
  for (std::string_view rest = head; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find("\r\n"));
    rest.remove_prefix(line.size() + 2);
    std::string name = lower(line.substr(0, line.find(':')));
    const std::string_view value = line.substr(name.size() + 2);
    if (is_left_out_of_http2(name, value)) continue;
    has_agent = has_agent || name == "user-agent";
    fields.emplace_back(std::move(name), value);
  }
  const std::string_view agent =
      first_value(target, "User-Agent").value_or(has_agent ? std::string_view{} : options.user_agent);
  if (!agent.empty()) fields.emplace_back("user-agent", agent);
  if (target.body != nullptr && !target.body->empty()) {
    request.content = target.body;
    if (!options.chunked) fields.emplace_back("content-length", std::to_string(target.body->size()));
  } else if (target.method == "POST" || target.method == "PUT" || target.method == "PATCH") {
    fields.emplace_back("content-length", "0");
  }
  if (request.inflate) fields.emplace_back("accept-encoding", "gzip");
  if (!options.attack.empty()) fields.emplace_back(lower(kAttackHeader), options.attack);
}

void append_body(const Target& target, bool chunked, Request& request) {
  request.tail = "\r\n\r\n";
  if (target.body == nullptr || target.body->empty()) return;
  request.body_bytes = target.body->size();
  auto wire = target.body;
  if (chunked) wire = std::make_shared<const std::string>(fmt::format("{:x}\r\n{}\r\n0\r\n\r\n", wire->size(), *wire));
  if (wire->size() <= kInlineBodyBytes) {
    request.tail += *wire;
  } else {
    request.body = std::move(wire);
  }
}

// What is for the first server only.
bool is_secret(std::string_view name) {
  static constexpr std::string_view kNames[] = {
      "Authorization", "Cookie", "Cookie2", "Proxy-Authenticate", "Proxy-Authorization", "Www-Authenticate"};
  return std::any_of(std::begin(kNames), std::end(kNames),
                     [name](std::string_view secret) { return equals_ignoring_case(name, secret); });
}

}  // namespace

std::string error_prefix(std::string_view method, std::string_view url) {
  std::string verb{method.empty() ? "GET" : method};
  std::transform(verb.begin() + 1, verb.end(), verb.begin() + 1,
                 [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
  return fmt::format("{} \"{}\": ", verb, without_credentials(url));
}

Request make_request(const Target& target, const RequestOptions& options) {
  Request request;
  request.method = target.method;
  request.url = target.url;
  const Expected<Url> url = parse_request_uri(target.url);
  request.fault = find_fault(target, url, options.attack);
  if (!request.fault.empty()) return request;

  const bool has_body = target.body != nullptr && !target.body->empty();
  request.origin = {url->scheme, url->host, url->port_or_default()};
  if (options.plan != nullptr) request.routes = options.plan->routes(request.origin);
  request.is_head = target.method == "HEAD";
  request.retry_safe = !has_body && (target.method == "GET" || target.method == "HEAD" || target.method == "OPTIONS" ||
                                     target.method == "TRACE");
  request.inflate = !request.is_head && !first_value(target, "Accept-Encoding") && !first_value(target, "Range");
  request.close = !options.keepalive || asks_to_close(target);
  append_head(target, *url, options, request);
  append_body(target, options.chunked, request);
  if (options.plan != nullptr && options.plan->may_speak_h2(request.origin)) add_fields(target, *url, options, request);
  return request;
}

Expected<Target> follow_redirect(const Target& original, const Target& previous, int code, std::string_view location) {
  const auto unusable = [location](const Error& fault) {
    return Error{
        fmt::format("failed to parse Location header \"{}\": {}", without_credentials(location), fault.text())};
  };
  auto resolved = resolve_reference(previous.url, location);
  if (!resolved) return unusable(resolved.error());
  const auto from = parse_request_uri(previous.url);
  const auto to = parse_request_uri(resolved->substr(0, resolved->find('#')));
  if (!to) return unusable(to.error());

  Target next{.method = previous.method, .url = *std::move(resolved), .headers = {}, .body = previous.body};
  if (code == 301 || code == 302 || code == 303) {
    if (next.method != "HEAD") next.method = "GET";
    next.body = nullptr;
  }
  const bool own_referer = first_value(original, "Referer").has_value();
  // As vegeta has it, the host counts and not the port; but what TLS has kept secret stays so.
  const bool trusted =
      from && equals_ignoring_case(from->host, to->host) && !(from->scheme == "https" && to->scheme == "http");
  const bool relative = location.find("://") == std::string_view::npos && !location.starts_with("//");
  for (const HeaderField& field : previous.headers) {
    if (!trusted && is_secret(field.name)) continue;
    if (field.name == "Host" && !relative) continue;
    if (field.name == "Referer" && !own_referer) continue;
    next.headers.push_back(field);
  }
  if (!own_referer && from && !(from->scheme == "https" && to->scheme == "http")) {
    std::string referer = previous.url.substr(0, previous.url.find('#'));
    if (from->has_userinfo) {
      const auto start = referer.find("://") + 3;
      // A password may hold an @, which belongs to it still.
      referer.erase(start, referer.rfind('@', referer.find_first_of("/?", start)) + 1 - start);
    }
    next.headers.push_back({"Referer", std::move(referer)});
  }
  return next;
}

}  // namespace pepe
