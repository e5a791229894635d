#include "support/random_result.h"

#include <array>
#include <cstddef>
#include <limits>
#include <ostream>
#include <random>
#include <tuple>

#include "pepe/base/text.h"

namespace pepe {
namespace {

constexpr std::string_view kOddPieces[] = {"\"",
                                           "\"\"",
                                           ",",
                                           "\n",
                                           "\r",
                                           "\r\n",
                                           "\t",
                                           " ",
                                           "\\",
                                           "\\.",
                                           "\\u0041",
                                           "<",
                                           ">",
                                           "&",
                                           "'",
                                           "/",
                                           "a",
                                           "Zz",
                                           "0",
                                           "=",
                                           "\u00e9",
                                           "\u2028",
                                           "\u2029",
                                           "\u3000",
                                           "\u00a0",
                                           "\U0001f600",
                                           "\x7f",
                                           "\x1b[31m",
                                           "\x01",
                                           "\xff",
                                           "\xc3",
                                           "\xed\xa0\x80",
                                           "{\"x\":1}",
                                           "GET http://127.0.0.1/",
                                           "404 Not Found"};

class Maker {
 public:
  explicit Maker(std::uint64_t seed) : random_{seed} {}

  RandomResult make() {
    RandomResult out;
    out.attack = one_in(2) ? std::string{} : odd_text(4);
    out.seq = number<std::uint64_t>();
    out.code = number<std::uint16_t>();
    out.timestamp = {one_in(8) ? kZeroTime : number<std::int64_t>(), 0};
    if (one_in(2) && out.timestamp.unix_nanos != kZeroTime) out.timestamp.zone_minutes = zone();
    out.latency = Nanos{number<std::int64_t>()};
    out.bytes_out = number<std::uint64_t>();
    out.bytes_in = number<std::uint64_t>();
    out.error = one_in(2) ? std::string{} : odd_text(12);
    if (!one_in(4)) out.body = body();
    out.method = one_in(4) ? odd_text(3) : "GET";
    out.url = one_in(4) ? odd_text(8) : "http://127.0.0.1:8080/?a=1&b=<2>";
    out.has_headers = !one_in(3);
    if (out.has_headers) out.headers = headers();
    out.lag = Nanos{number<std::int64_t>()};
    out.has_lag = one_in(2);
    out.bytes_read = number<std::uint64_t>();
    out.reused = one_in(2);
    out.protocol = static_cast<Protocol>(below(3));
    return out;
  }

 private:
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }

  // Any value of the type, small ones and both ends of its range far more often than chance has it.
  template <class Integer>
  Integer number() {
    using Limits = std::numeric_limits<Integer>;
    switch (below(6)) {
      case 0: return 0;
      case 1: return Limits::max();
      case 2: return Limits::min();
      case 3: return static_cast<Integer>(below(1000));
      default: return static_cast<Integer>(random_() >> below(64));
    }
  }

  std::int16_t zone() { return static_cast<std::int16_t>(15 * (static_cast<int>(below(113)) - 56)); }

  std::string odd_text(std::uint64_t most) {
    std::string out;
    for (std::uint64_t i = below(most + 1); i > 0; --i) out += kOddPieces[below(std::size(kOddPieces))];
    return out;
  }

  std::string body() {
    std::string out(below(one_in(16) ? 5000 : 20), '\0');
    for (char& c : out) c = static_cast<char>(random_());
    return out;
  }

  std::vector<std::pair<std::string, std::string>> headers() {
    static constexpr std::array<std::string_view, 6> kNames = {"Content-Type", "Date", "Set-Cookie",
                                                               "X-A",          "Etag", "X-1"};
    std::vector<std::pair<std::string, std::string>> out;
    for (std::uint64_t i = below(7); i > 0; --i) out.emplace_back(kNames[below(kNames.size())], header_value());
    return out;
  }

  std::string header_value() {
    std::string out;
    for (const char c : odd_text(5)) {
      if (c != '\r' && c != '\n') out += c;
    }
    return std::string{trim(out)};
  }

  std::mt19937_64 random_;
};

auto fields(const RandomResult& r) {
  return std::tie(r.attack, r.seq, r.code, r.timestamp, r.latency, r.bytes_out, r.bytes_in, r.error, r.body, r.method,
                  r.url, r.headers, r.has_headers, r.lag, r.has_lag, r.bytes_read, r.reused, r.protocol);
}

}  // namespace

Result RandomResult::view() {
  views_.clear();
  for (const auto& [name, value] : headers) views_.push_back({name, value});
  Result out;
  out.attack = attack;
  out.seq = seq;
  out.code = code;
  out.timestamp = timestamp;
  out.latency = latency;
  out.bytes_out = bytes_out;
  out.bytes_in = bytes_in;
  out.error = error;
  if (body) out.body = *body;
  out.method = method;
  out.url = url;
  out.headers = views_;
  out.has_headers = has_headers;
  out.lag = lag;
  out.has_lag = has_lag;
  out.bytes_read = bytes_read;
  out.reused = reused;
  out.protocol = protocol;
  return out;
}

bool operator==(const RandomResult& a, const RandomResult& b) { return fields(a) == fields(b); }

std::ostream& operator<<(std::ostream& out, const RandomResult& r) {
  out << "attack " << quote(r.attack) << " seq " << r.seq << " code " << r.code << " timestamp "
      << r.timestamp.unix_nanos << " zone " << r.timestamp.zone_minutes << " latency " << r.latency.count()
      << " bytes_out " << r.bytes_out << " bytes_in " << r.bytes_in << " error " << quote(r.error) << " body "
      << (r.body ? quote(*r.body) : "nil") << " method " << quote(r.method) << " url " << quote(r.url) << " headers "
      << (r.has_headers ? "{" : "nil {");
  for (const auto& [name, value] : r.headers) out << quote(name) << ": " << quote(value) << ", ";
  return out << "} lag " << r.lag.count() << (r.has_lag ? "" : "?") << " bytes_read " << r.bytes_read << " reused "
             << r.reused << " protocol " << static_cast<int>(r.protocol);
}

RandomResult copy_of(const Result& result) {
  RandomResult out;
  out.attack = result.attack;
  out.seq = result.seq;
  out.code = result.code;
  out.timestamp = result.timestamp;
  out.latency = result.latency;
  out.bytes_out = result.bytes_out;
  out.bytes_in = result.bytes_in;
  out.error = result.error;
  if (result.body) out.body = std::string{*result.body};
  out.method = result.method;
  out.url = result.url;
  for (const HeaderView& header : result.headers) out.headers.emplace_back(header.name, header.value);
  out.has_headers = result.has_headers;
  out.lag = result.lag;
  out.has_lag = result.has_lag;
  out.bytes_read = result.bytes_read;
  out.reused = result.reused;
  out.protocol = result.protocol;
  return out;
}

RandomResult random_result(std::uint64_t seed) { return Maker{seed}.make(); }

}  // namespace pepe
