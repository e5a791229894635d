#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/worker.h"
#include "fuzz/fake_network.h"
#include "fuzz/input.h"
#include "pepe/base/check.h"
#include "support/codec_harness.h"

#include "result/msgpack_codec.h"

namespace {

using pepe::fuzz::FakeNetwork;

/// How an input is played: its first two bytes.
struct Play {
  Play(std::uint8_t hits_and_limits, std::uint8_t manner)
      : hits{hits_and_limits % 4U + 1},
        at_once{(hits_and_limits & 4) != 0 ? 3U : 1U},
        redirects{(hits_and_limits >> 3) % 4 - 1},
        max_body{(hits_and_limits & 32) != 0 ? 3 : -1},
        keepalive{(hits_and_limits & 64) == 0},
        method{std::array{"GET", "HEAD", "POST", "GET"}[manner % 4]},
        network{.piece = SIZE_MAX, .sends_in_halves = (manner & 4) != 0, .closes_at_once = (manner & 8) != 0} {}

  std::uint64_t hits;
  std::uint64_t at_once;  ///< Hits in flight.
  std::int64_t redirects;
  std::int64_t max_body;
  bool keepalive;
  std::string method;
  FakeNetwork::Options network;
};

class NoPlan final : public pepe::DialPlan {
 public:
  void prepare(const pepe::Origin&) override {}
  bool absolute_form(const pepe::Origin&, std::string*) const override { return false; }
  bool may_speak_h2(const pepe::Origin&) const override { return false; }
  std::uint32_t routes(const pepe::Origin&) const override { return 1; }
  std::string notice(const pepe::Origin&) const override { return {}; }
  bool names_move() const override { return false; }
};

class FewHits final : public pepe::Pacer {
 public:
  explicit FewHits(std::uint64_t count) : count_{count} {}
  std::optional<pepe::Nanos> due(std::uint64_t n) const noexcept override {
    return n < count_ ? std::optional{pepe::Nanos{0}} : std::nullopt;
  }
  std::uint64_t hits_before(pepe::Nanos) const noexcept override { return count_; }
  bool unpaced() const noexcept override { return true; }

 private:
  std::uint64_t count_;
};

class Chunks final : public pepe::ChunkSink {
 public:
  pepe::Expected<void> write(std::string_view chunks) override { return bytes.append(chunks), pepe::Expected<void>{}; }
  std::string bytes;
};

/// What an attack on the script came to.
struct Run {
  std::vector<pepe::RandomResult> results;
  std::size_t requests{0};
};

constexpr pepe::Nanos kTimeout = std::chrono::seconds{2};

Run attack(const Play& play, std::string_view script) {
  FakeNetwork network{pepe::fuzz::parse_script(script), play.network};
  pepe::AttackOptions options;
  options.redirects = play.redirects;
  options.max_body = play.max_body;
  options.keepalive = play.keepalive;
  options.timeout = kTimeout;
  const FewHits pacer{play.hits};
  NoPlan plan;
  Chunks chunks;
  pepe::Sink sink{chunks, [] {}};
  const pepe::RequestOptions request_options{.user_agent = "pepe", .keepalive = play.keepalive, .plan = &plan};
  pepe::AttackState state{.options = options,
                          .pacer = pacer,
                          .request_options = request_options,
                          .targets = {{.method = play.method, .url = "http://h/a/b", .headers = {}, .body = nullptr}},
                          .requests = {},
                          .plan = &plan,
                          .sink = &sink,
                          .time = {.start = {}, .start_instant = network.now(), .warmup_instant = network.now()},
                          .bodies = pepe::BodyBudget{std::uint64_t{64} << 20}};
  if (play.method == "POST") state.targets[0].body = std::make_shared<const std::string>("payload");
  state.requests.push_back(pepe::make_request(state.targets[0], state.request_options));
  pepe::Worker{state, 0, {.max_in_flight = play.at_once}}.run();
  PEPE_CHECK(network.open() == 0);
  const pepe::Decoded decoded = pepe::decode_all(pepe::make_msgpack_decoder, chunks.bytes);
  PEPE_CHECK(decoded.error.empty() && decoded.damage.empty());
  return {decoded.results, network.requests()};
}

void check_result(const Play& play, const pepe::RandomResult& result) {
  PEPE_CHECK(result.code == 0 || (result.code >= 200 && result.code <= 999));
  const bool success = result.code >= 200 && result.code < 400;
  PEPE_CHECK(success == result.error.empty());
  PEPE_CHECK(result.latency >= pepe::Nanos{0} && result.latency <= kTimeout + std::chrono::milliseconds{10});
  const std::size_t body = result.body ? result.body->size() : 0;
  PEPE_CHECK(play.max_body < 0 || body <= static_cast<std::size_t>(play.max_body));
  PEPE_CHECK(result.code == 0 || result.bytes_in == body);
  PEPE_CHECK(play.method != "HEAD" || body == 0);
  for (const auto& [name, value] : result.headers)
    PEPE_CHECK(!name.empty() && value.find_first_of(std::string_view{"\r\n\0", 3}) == std::string::npos);
}

// Every hit has one result; nothing is sent more often than the rules of a hit allow.
void check_run(const Play& play, const Run& run) {
  PEPE_CHECK(run.results.size() == play.hits);
  std::vector<bool> seen(play.hits);
  for (const pepe::RandomResult& result : run.results) {
    PEPE_CHECK(result.seq < play.hits && !seen[result.seq]);
    seen[result.seq] = true;
    check_result(play, result);
  }
  const auto asked = static_cast<std::size_t>(std::max<std::int64_t>(play.redirects, 0)) + 1;
  const std::size_t retries = play.method == "POST" && play.redirects < 1 ? 0 : 1;
  PEPE_CHECK(run.requests <= play.hits * asked * (1 + retries));
}

// Of one request, its answer means the same however it comes.
void check_same(const Run& whole, const Run& cut) {
  if (whole.requests != 1 || cut.requests != 1 || whole.results.size() != 1) return;
  const pepe::RandomResult& a = whole.results[0];
  const pepe::RandomResult& b = cut.results[0];
  PEPE_CHECK(a.code == b.code && a.error.empty() == b.error.empty());
  if (!a.error.empty()) return;
  PEPE_CHECK(a.body == b.body && a.headers == b.headers && a.bytes_in == b.bytes_in && a.bytes_read == b.bytes_read);
}

}  // namespace

/// The first two bytes say what is asked for and how (Play), the others are a server's script (Step). A worker sends a
/// few hits through its pools, connections and parser: however the answers come, each hit ends in time as one result.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pepe::fuzz::Input input{data, size};
  const std::uint8_t first = input.byte();
  Play play{first, input.byte()};
  const std::string_view script = input.rest();
  const std::uint64_t dice = pepe::fuzz::dice(script);
  const std::size_t piece = dice % 8 == 0 && script.size() < 300 ? 1 : script.size() / 8 + 1 + dice / 8 % 16;
  // Of several hits, one run is enough: what they say of each other depends on how the answers come.
  if (play.hits > 1 && dice % 2 == 0) play.network.piece = piece;
  const Run run = attack(play, script);
  check_run(play, run);
  if (play.hits > 1) return 0;
  play.network.piece = piece;
  const Run cut = attack(play, script);
  check_run(play, cut);
  check_same(run, cut);
  return 0;
}
