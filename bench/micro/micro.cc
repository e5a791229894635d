// Nanoseconds, allocations and instructions of the pure parts: pacer, chunk writer, codecs, metrics, target list.
//   micro           everything
//   micro decode    what has this in its name
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

#include "bench/micro/harness.h"
#include "pepe/metrics/metrics.h"
#include "pepe/pacer/load.h"
#include "pepe/result/chunk_writer.h"
#include "pepe/result/codec.h"
#include "pepe/target/targeter.h"

namespace pepe {
namespace {

constexpr std::uint64_t kResults = 10'000;
constexpr HeaderView kHeaders[] = {{"Content-Type", "text/plain"}, {"Content-Length", "6"}};
constexpr std::int64_t kStart = 1'700'000'000'000'000'000;

Result make_result(std::uint64_t seq) {
  Result result;
  result.seq = seq;
  result.code = 200;
  result.timestamp.unix_nanos = kStart + static_cast<std::int64_t>(seq * 20'000);
  result.latency = Nanos{300'000 + static_cast<std::int64_t>(seq * 7919 % 100'000)};
  result.bytes_in = result.bytes_read = 6;
  result.body = "hello\n";
  result.method = "GET";
  result.url = "http://127.0.0.1:8080/";
  result.headers = kHeaders;
  result.has_headers = true;
  return result;
}

std::string encode_all(const CodecEntry& codec) {
  std::string out;
  const auto encoder = codec.make_encoder();
  for (std::uint64_t seq = 0; seq < kResults; ++seq) encoder->encode(make_result(seq), out);
  encoder->flush(out);
  return out;
}

std::uint64_t decode_all(const CodecEntry& codec, std::string_view bytes) {
  const auto decoder = codec.make_decoder({}, {});
  InputWindow window{.bytes = bytes, .at_end = true};
  Result result;
  std::uint64_t count = 0;
  for (;;) {
    const auto status = decoder->next(window, result);
    if (!status || *status != DecodeStatus::kResult) return count;
    ++count;
  }
}

class Micro {
 public:
  explicit Micro(std::string_view filter) : filter_{filter} {}

  void run() {
    run_pacer();
    run_chunk_writer();
    run_codecs();
    run_metrics();
    run_targets();
  }

 private:
  void report(const std::string& name, std::uint64_t operations, const std::function<void()>& batch) {
    if (name.find(filter_) != name.npos) print_micro(name, measure_micro(operations, batch));
  }

  void run_pacer() {
    using std::chrono::seconds;
    const LoadFlags flags{.rate = {333, seconds{1}},
                          .duration = std::chrono::hours{1},
                          .rate_to = Rate{1000, seconds{1}},
                          .amplitude = Rate{333, seconds{1}},
                          .period = seconds{60},
                          .steps = {{{333, seconds{1}}, seconds{60}}, {{7, seconds{3}}, seconds{60}}}};
    for (const PacerEntry& entry : pacers()) {
      const auto load = entry.make(flags);
      report("pacer due " + std::string{entry.name}, kResults, [&] {
        for (std::uint64_t seq = 0; seq < kResults; ++seq) keep((*load).pacer->due(seq));
      });
    }
  }

  void run_chunk_writer() {
    ChunkWriter writer{{.run_id = 1}};
    std::string out;
    OutcomeId id;
    report("chunk writer add", kResults, [&] {
      for (std::uint64_t seq = 0; seq < kResults; ++seq) {
        if (!writer.is_current(id)) {
          Outcome outcome;
          outcome.method = "GET";
          outcome.url = "http://127.0.0.1:8080/";
          outcome.code = 200;
          outcome.headers = kHeaders;
          outcome.has_headers = true;
          id = writer.intern(outcome);
        }
        writer.add(id, seq, kStart + static_cast<std::int64_t>(seq), Nanos{300'000}, Nanos{1000});
        if (writer.full()) writer.take(out);
        if (out.size() > (1U << 20)) out.clear();
      }
    });
  }

  void run_codecs() {
    for (const CodecEntry& codec : codecs()) {
      const std::string name{codec.name};
      const std::string bytes = encode_all(codec);
      report("encode " + name, kResults, [&] { keep(encode_all(codec).size()); });
      report("decode " + name, kResults, [&] {
        if (decode_all(codec, bytes) != kResults) std::printf("decode %s: results are missing\n", name.c_str());
      });
    }
  }

  void run_metrics() {
    Metrics metrics;
    report("metrics add", kResults, [&] {
      for (std::uint64_t seq = 0; seq < kResults; ++seq) metrics.add(make_result(seq));
    });
  }

  void run_targets() {
    constexpr std::string_view kTarget = "GET http://127.0.0.1:8080/path?query=1\nAccept: text/plain\n\n";
    std::string list;
    for (std::uint64_t i = 0; i < kResults; ++i) list += kTarget;
    report("target http", kResults, [&] {
      std::string_view rest = list;
      TargeterOptions options;
      options.read = [&](std::span<char> buffer) -> Expected<std::size_t> {
        const std::size_t count = std::min(buffer.size(), rest.size());
        std::memcpy(buffer.data(), rest.data(), count);
        rest.remove_prefix(count);
        return count;
      };
      const auto targeter = target_formats().front().make(std::move(options));
      const auto targets = read_all_targets(*targeter);
      keep(targets.has_value());
    });
  }

  std::string_view filter_;
};

}  // namespace
}  // namespace pepe

int main(int argc, char** argv) {
  pepe::Micro{argc > 1 ? argv[1] : ""}.run();
  return 0;
}
