// Writes a native result file of N results, for measuring how fast reports read one. What it holds is made up, but
// shaped like a run: a rate, a few targets, latencies with a tail, some failures.
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include "bench/flags.h"
#include "pepe/base/error.h"
#include "pepe/result/chunk_writer.h"

namespace pepe {
namespace {

constexpr std::int64_t kStart = 1'700'000'000'000'000'000;
constexpr std::string_view kBody = "hello\n";

struct GenerateOptions {
  std::uint64_t results{10'000'000};
  std::uint64_t rate{50'000};
  std::uint64_t targets{4};
  std::uint64_t seed{1};
  std::string output{"/dev/stdout"};
};

/// Latencies of a server that answers in about a millisecond, one in a thousand a hundred times slower.
class Latencies {
 public:
  explicit Latencies(std::uint64_t seed) : random_{seed} {}
  Nanos next() {
    const double usual = std::exp(normal_(random_) * 0.5) * 1e6;
    return Nanos{static_cast<std::int64_t>(random_() % 1000 == 0 ? usual * 100 : usual)};
  }
  bool fails() { return random_() % 1000 == 1; }

 private:
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
};

/// The outcomes that hits share: a success and a failure per target.
class Outcomes {
 public:
  Outcomes(ChunkWriter& writer, std::uint64_t targets)
      : writer_{writer}, body_{writer.store_body(kBody)}, rows_(2 * targets) {
    for (std::uint64_t i = 0; i < targets; ++i) urls_.push_back("http://127.0.0.1:8080/" + std::to_string(i));
  }

  OutcomeId find(std::uint64_t target, bool failed) {
    OutcomeId& row = rows_[2 * target + (failed ? 1 : 0)];
    if (!writer_.is_current(row)) row = writer_.intern(make(target, failed));
    return row;
  }

 private:
  Outcome make(std::uint64_t target, bool failed) const {
    Outcome outcome;
    outcome.method = "GET";
    outcome.url = urls_[target];
    outcome.code = failed ? 503 : 200;
    outcome.error = failed ? "503 Service Unavailable" : "";
    outcome.bytes_in = outcome.bytes_read = kBody.size();
    outcome.headers = kHeaders;
    outcome.has_headers = outcome.has_body = outcome.reused = true;
    outcome.stored = body_;
    return outcome;
  }

  static constexpr HeaderView kHeaders[] = {{"Content-Type", "text/plain"}, {"Content-Length", "6"}};

  ChunkWriter& writer_;
  BodyRef body_;
  std::vector<std::string> urls_;
  std::vector<OutcomeId> rows_;
};

Expected<void> generate(const GenerateOptions& options) {
  if (options.rate == 0 || options.targets == 0) return Error{"-rate and -targets must be above 0"};
  std::FILE* file = std::fopen(options.output.c_str(), "w");
  if (file == nullptr) return system_error("open " + options.output, errno);
  std::string out;
  RunFacts facts;
  facts.run_id = options.seed;
  facts.start.unix_nanos = kStart;
  facts.rate = {.hits = static_cast<std::int64_t>(options.rate), .per = std::chrono::seconds{1}};
  append_facts_chunk(facts, out);
  ChunkWriter writer{{.run_id = options.seed}};
  Outcomes outcomes{writer, options.targets};
  Latencies latencies{options.seed};
  bool written = true;
  for (std::uint64_t seq = 0; seq < options.results && written; ++seq) {
    const OutcomeId outcome = outcomes.find(seq % options.targets, latencies.fails());
    const auto offset = static_cast<std::int64_t>(seq * 1'000'000'000 / options.rate);
    writer.add(outcome, seq, kStart + offset, latencies.next(), Nanos{static_cast<std::int64_t>(seq % 7) * 1000});
    if (!writer.full()) continue;
    writer.take(out);
    written = std::fwrite(out.data(), 1, out.size(), file) == out.size();
    out.clear();
  }
  writer.take(out);
  facts.complete = true;
  facts.sent = options.results;
  append_facts_chunk(facts, out);
  written = written && std::fwrite(out.data(), 1, out.size(), file) == out.size();
  if (std::fclose(file) != 0 || !written) return system_error("write " + options.output, errno);
  return {};
}

int generate_main(int argc, char** argv) {
  GenerateOptions options;
  Flags flags;
  flags.add("results", &options.results, "how many (10000000)");
  flags.add("rate", &options.rate, "hits per second of the made-up run (50000)");
  flags.add("targets", &options.targets, "distinct URLs (4)");
  flags.add("seed", &options.seed, "of the made-up latencies (1)");
  flags.add("output", &options.output, "file (standard output)");
  Expected<void> done = flags.parse(argc, argv);
  if (done) done = generate(options);
  if (done) return 0;
  std::fprintf(stderr, "generate: %s\n", done.error().text().c_str());
  return 2;
}

}  // namespace
}  // namespace pepe

int main(int argc, char** argv) { return pepe::generate_main(argc, argv); }
