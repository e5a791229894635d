#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "pepe/base/control.h"
#include "pepe/base/text.h"
#include "pepe/target/url.h"
#include "target/body_files.h"
#include "target/formats.h"
#include "target/line_reader.h"
#include "target/list_targeter.h"

namespace pepe {
namespace {

constexpr std::size_t kLongestLine = std::size_t{64} << 20;

/// How many capital letters `line` begins with.
std::size_t leading_capitals(std::string_view line) noexcept {
  std::size_t count = 0;
  while (count < line.size() && line[count] >= 'A' && line[count] <= 'Z') ++count;
  return count;
}

/// Capitals and a blank or tab: a request line. But for a colon behind them: that is a header ("HOST : x").
bool looks_like_request(std::string_view line) noexcept {
  const std::size_t capitals = leading_capitals(line);
  if (capitals == 0 || capitals == line.size() || (line[capitals] != ' ' && line[capitals] != '\t')) return false;
  return !trim(line.substr(capitals)).starts_with(':');
}

/// A header name that can be sent (RFC 9110, section 5.6.2).
bool valid_header_name(std::string_view name) noexcept {
  return std::all_of(name.begin(), name.end(), [](char c) {
    constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           kMarks.find(c) != std::string_view::npos;
  });
}

std::string shown(std::string_view line) { return printable(without_value(line)); }

/// Why no request can be made for `url`; nullopt: one can.
std::optional<std::string> url_fault(std::string_view url) {
  const auto parsed = parse_request_uri(url);
  if (!parsed) return parsed.error().text();
  if (parsed->scheme != "http" && parsed->scheme != "https") {
    return fmt::format("unsupported protocol scheme {}: want http://HOST/... or https://HOST/...",
                       quote(parsed->scheme));
  }
  if (parsed->authority.empty()) return "no Host in request URL: want http://HOST/... or https://HOST/...";
  // A request line copied from a log would ask for another path, without a word.
  for (const std::string_view version : {" HTTP/1.0", " HTTP/1.1", " HTTP/2", " HTTP/2.0", " HTTP/3"}) {
    if (url.ends_with(version)) return fmt::format("the URL ends in {}: leave the version out", quote(version));
  }
  return std::nullopt;
}

class HttpTargeter final : public ListTargeter {
 public:
  explicit HttpTargeter(TargeterOptions options)
      : lines_{std::move(options.read), std::move(options.name), kLongestLine},
        bodies_{std::move(options.read_file)},
        defaults_{std::move(options.defaults)} {}

 private:
  Expected<std::optional<Target>> read_target() override;
  Expected<Target> parse_request_line(std::string_view line) const;
  Expected<bool> read_header_line(std::string_view line, Target& target);
  Error bad_request_line(std::string_view line) const;

  LineReader lines_;
  BodyFiles bodies_;
  TargetDefaults defaults_;
  bool after_body_{false};  // the last target ended with its body line
};

Expected<std::optional<Target>> HttpTargeter::read_target() {
  std::optional<std::string_view> line;
  do {
    auto got = lines_.next();
    if (!got) return std::move(got).error();
    if (!*got) return std::optional<Target>{};
    line = *got;
  } while (line->empty() || line->front() == '#');

  auto target = parse_request_line(*line);
  if (!target) return std::move(target).error();
  after_body_ = false;
  while (true) {
    auto got = lines_.next();
    if (!got) return std::move(got).error();
    if (!*got) break;
    const auto more = read_header_line(**got, *target);
    if (!more) return more.error();
    if (!*more) break;
  }
  return std::optional{*std::move(target)};
}

Expected<Target> HttpTargeter::parse_request_line(std::string_view line) const {
  const std::size_t capitals = leading_capitals(line);
  if (capitals == 0 || capitals == line.size() || line[capitals] != ' ') return bad_request_line(line);
  const std::string_view url = line.substr(capitals + 1);
  if (const auto fault = url_fault(url))
    return lines_.error(fmt::format("bad URL: {}, {}", printable(without_credentials(url)), *fault));
  return Target{std::string{line.substr(0, capitals)}, std::string{url}, defaults_.headers, defaults_.body};
}

Error HttpTargeter::bad_request_line(std::string_view line) const {
  const std::string_view hint = after_body_ ? "the body line ends a target, headers come before it"
                                            : "want METHOD URL, such as GET http://127.0.0.1:8080/";
  const std::size_t blank = line.find(' ');
  if (blank == std::string_view::npos) return lines_.error(fmt::format("bad target: {}: {}", shown(line), hint));
  const std::string_view method = line.substr(0, blank);
  return lines_.error(
      fmt::format("bad method: {}: {} (a method is capital letters, one blank follows it)", shown(method), hint));
}

/// One line behind a request line. False: the target ends here.
Expected<bool> HttpTargeter::read_header_line(std::string_view line, Target& target) {
  if (line.empty()) return false;
  if (line[0] == '#') return true;
  if (looks_like_request(line)) {
    lines_.unread();
    return false;
  }
  if (line[0] == '@') {
    auto body = bodies_.get(trim(line.substr(1)));
    if (!body) return lines_.error("bad body: " + body.error().text());
    target.body = *std::move(body);
    after_body_ = true;
    return false;
  }

  const std::size_t colon = line.find(':');
  const std::string_view name = trim(line.substr(0, colon));
  const std::string_view value = colon == std::string_view::npos ? std::string_view{} : trim(line.substr(colon + 1));
  if (name.empty() || value.empty()) return lines_.error(fmt::format("bad header: {}: want NAME: VALUE", shown(line)));
  if (!valid_header_name(name)) {
    return lines_.error(
        fmt::format("bad header: {}: the name holds a character that no header name may have", shown(line)));
  }
  if (!is_header_value(value))
    return lines_.error(fmt::format("bad header: {}: the value holds a control character", name));
  target.headers.push_back({std::string{name}, std::string{value}});
  return true;
}

}  // namespace

std::unique_ptr<Targeter> make_http_targeter(TargeterOptions options) {
  return std::make_unique<HttpTargeter>(std::move(options));
}

}  // namespace pepe
