// HOT: Metrics::add(Result, Nanos) runs once per result. No allocation, lock, log or wall clock once its tables have
// grown.
#include "pepe/metrics/metrics.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include "metrics/error_tally.h"
#include "metrics/histogram.h"
#include "metrics/quantile.h"
#include "pepe/base/saturate.h"

namespace pepe {
namespace {

constexpr std::size_t kFlatCodes = 1024;
/// What the facts of all runs may take up in memory: some ten thousand runs of a usual command line.
constexpr std::size_t kMaxRunBytes = 4 << 20;

/// Holds every sum of 64-bit numbers that there is.
__extension__ using Wide = __int128;

std::int64_t saturate(Wide value) { return static_cast<std::int64_t>(std::clamp<Wide>(value, INT64_MIN, INT64_MAX)); }

/// Cut to whole nanoseconds.
Nanos saturate(double nanos) {
  constexpr double kBeyond = 0x1p63;
  if (nanos >= kBeyond) return Nanos::max();
  return nanos <= -kBeyond ? Nanos::min() : Nanos{static_cast<std::int64_t>(nanos)};
}

// Whole seconds and the rest apart, as Go does it: the figures then agree to the last bit.
double seconds(Nanos duration) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const std::int64_t whole = duration.count() / kSecond;
  return static_cast<double>(whole) + static_cast<double>(duration.count() % kSecond) / 1e9;
}

std::size_t bytes_of(const RunFacts& facts) {
  std::size_t bytes = sizeof(facts) + facts.version.size() + facts.attack.size() + facts.limit.size() +
                      facts.threads.size() * sizeof(ThreadFacts);
  for (const std::string& flag : facts.flags) bytes += sizeof(std::string) + flag.size();
  return bytes;
}

}  // namespace

struct Metrics::State {
  State(std::vector<Nanos> bounds, MetricsLimits limits)
      : latencies{limits.exact_latencies}, errors{limits.error_bytes}, histogram{std::move(bounds)} {}

  void add_latency(Nanos latency);
  void add_times(const Result& result);
  void add_code(std::uint16_t code);

  Quantiles latencies;
  Wide latency_total{0};
  Nanos latency_min{0};
  Nanos latency_max{INT64_MIN};
  bool first_was_zero{false};
  std::uint64_t bytes_in{0};
  std::uint64_t bytes_out{0};
  std::optional<Timestamp> earliest;
  std::optional<Timestamp> latest;
  Wide end{0};  ///< Of the result that ends last, where `earliest` is set.
  std::int16_t end_zone{0};
  std::array<std::uint64_t, kFlatCodes> flat_codes{};
  std::map<std::uint16_t, std::uint64_t> other_codes;
  ErrorTally errors;
  BucketHistogram histogram;
  std::vector<RunFacts> runs;
  std::unordered_map<std::uint64_t, std::size_t> run_index;
  std::size_t run_bytes{0};
};

// The minimum is vegeta's, so that reports of the same results agree: to it a minimum of 0 is none yet, and the next
// latency takes its place. No hit takes 0 ns; where the first one says so, that is believed.
void Metrics::State::add_latency(Nanos latency) {
  if (latencies.count() == 0) {
    latency_min = latency;
    first_was_zero = latency.count() == 0;
  } else if (latency < latency_min || (latency_min.count() == 0 && !first_was_zero)) {
    latency_min = latency;
  }
  if (latency > latency_max) latency_max = latency;
  latency_total += latency.count();
  latencies.add(latency.count());
  if (!histogram.empty()) histogram.add(latency);
}

void Metrics::State::add_times(const Result& result) {
  const Timestamp began = result.timestamp;
  if (began.unix_nanos == kZeroTime) return;
  const Wide ended = Wide{began.unix_nanos} + result.latency.count();
  if (!earliest || ended > end) {
    end = ended;
    end_zone = began.zone_minutes;
  }
  if (!earliest) [[unlikely]] {
    earliest = latest = began;
    return;
  }
  if (began.unix_nanos < earliest->unix_nanos) earliest = began;
  if (began.unix_nanos > latest->unix_nanos) latest = began;
}

void Metrics::State::add_code(std::uint16_t code) {
  if (code < kFlatCodes) [[likely]] {
    ++flat_codes[code];
  } else {
    ++other_codes[code];
  }
}

Metrics::Metrics(std::vector<Nanos> bounds, MetricsLimits limits)
    : state_{std::make_unique<State>(std::move(bounds), limits)} {}
Metrics::~Metrics() = default;
Metrics::Metrics(Metrics&&) noexcept = default;
Metrics& Metrics::operator=(Metrics&&) noexcept = default;

void Metrics::add(const Result& result, Nanos latency) {
  State& state = *state_;
  state.add_latency(latency);
  state.add_times(result);
  state.add_code(result.code);
  state.bytes_in = saturating_add(state.bytes_in, result.bytes_in);
  state.bytes_out = saturating_add(state.bytes_out, result.bytes_out);
  if (!result.error.empty()) state.errors.add(result.error);
}

void Metrics::add(const RunFacts& facts) {
  State& state = *state_;
  const auto [place, is_new] = state.run_index.try_emplace(facts.run_id, state.runs.size());
  const std::size_t held = is_new ? 0 : bytes_of(state.runs[place->second]);
  const std::size_t bytes = bytes_of(facts);
  if (state.run_bytes - held + bytes > kMaxRunBytes) {
    if (is_new) state.run_index.erase(place);
    return;
  }
  state.run_bytes += bytes - held;
  if (is_new) {
    state.runs.push_back(facts);
  } else {
    state.runs[place->second] = facts;
  }
}

MetricsSummary Metrics::summary() const {
  const State& state = *state_;
  MetricsSummary out;
  out.requests = state.latencies.count();
  for (std::size_t code = 0; code < kFlatCodes; ++code) {
    if (state.flat_codes[code] == 0) continue;
    out.status_codes.emplace(static_cast<std::uint16_t>(code), state.flat_codes[code]);
    if (code >= 200 && code < 400) out.successes += state.flat_codes[code];
  }
  out.status_codes.insert(state.other_codes.begin(), state.other_codes.end());
  state.errors.write_to(out);
  out.bytes_in_total = state.bytes_in;
  out.bytes_out_total = state.bytes_out;
  out.earliest = state.earliest;
  out.latest = state.latest;
  if (out.earliest) out.end = Timestamp{saturate(state.end), state.end_zone};
  if (out.requests == 0) return out;

  const auto requests = static_cast<double>(out.requests);
  out.latency_total = Nanos{saturate(state.latency_total)};
  out.latency_mean = saturate(static_cast<double>(state.latency_total) / requests);
  out.latency_min = state.latency_min;
  out.latency_max = state.latency_max;
  out.bytes_in_mean = static_cast<double>(out.bytes_in_total) / requests;
  out.bytes_out_mean = static_cast<double>(out.bytes_out_total) / requests;
  out.success = static_cast<double>(out.successes) / requests;
  if (out.earliest) {
    out.duration = Nanos{saturate(Wide{out.latest->unix_nanos} - out.earliest->unix_nanos)};
    out.wait = Nanos{saturate(state.end - out.latest->unix_nanos)};
  }
  out.rate = requests;
  out.throughput = static_cast<double>(out.successes);
  if (out.duration.count() > 0) {
    out.rate /= seconds(out.duration);
    out.throughput /= seconds(Nanos{saturate(Wide{out.duration.count()} + out.wait.count())});
  }
  return out;
}

std::uint64_t Metrics::count() const noexcept { return state_->latencies.count(); }
std::pair<Nanos, Nanos> Metrics::ranked(std::uint64_t rank) const {
  const auto [least, most] = state_->latencies.range_at(rank);
  return {Nanos{least}, Nanos{most}};
}
Nanos Metrics::quantile(double q) const { return Nanos{state_->latencies.at(q)}; }
const std::vector<Nanos>& Metrics::bounds() const noexcept { return state_->histogram.bounds(); }
const std::vector<std::uint64_t>& Metrics::bucket_counts() const noexcept { return state_->histogram.counts(); }
const std::vector<RunFacts>& Metrics::runs() const noexcept { return state_->runs; }

}  // namespace pepe
