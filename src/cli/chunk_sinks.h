#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "cli/output_file.h"
#include "pepe/engine/attack.h"
#include "pepe/metrics/metrics.h"
#include "pepe/result/codec.h"

/// Where the results of an attack go. A sink is called by one thread, the engine's; what it gathers is read
/// after the attack, or through LiveFigures.
namespace pepe {

/// Takes the chunks of a native stream apart.
class ChunkDecoder {
 public:
  ChunkDecoder(DecodeOptions options, std::function<void(const RunFacts&)> facts = {});

  /// Hands every result of `chunks` to `take`. Error: they are no native stream (a bug, but said, not
  /// hidden).
  Expected<void> decode(std::string_view chunks, const std::function<void(const Result&)>& take);

 private:
  std::unique_ptr<Decoder> decoder_;
  std::string rest_;  ///< Of a chunk that was not whole.
  std::uint64_t offset_{0};
};

/// When the first write, which says what is about to be done, is made.
enum class FirstWrite { kAtOnce, kWithResults };

/// Writes the native stream as it is. FirstWrite::kWithResults: a file that can't be written to is found out by the
/// first results, when hits have been sent; until then nothing is in it.
class FileSink final : public ChunkSink {
 public:
  FileSink(OutputFile& file, FirstWrite first) : file_{file}, started_{first == FirstWrite::kAtOnce} {}
  Expected<void> write(std::string_view chunks) override;
  /// Writes what was held back. REQUIRES: the attack is over.
  Expected<void> finish();

 private:
  OutputFile& file_;
  std::string held_;
  bool started_;
};

/// Writes the results in another encoding. What was handed in can be read from the file when write() returns.
class TranscodingSink final : public ChunkSink {
 public:
  TranscodingSink(OutputFile& file, const CodecEntry& codec);
  Expected<void> write(std::string_view chunks) override;

 private:
  OutputFile& file_;
  std::unique_ptr<Encoder> encoder_;
  ChunkDecoder decoder_;
  std::string bytes_;
};

/// Keeps no results, only their figures.
class MetricsSink final : public ChunkSink {
 public:
  MetricsSink();
  Expected<void> write(std::string_view chunks) override;
  const Metrics& metrics() const noexcept { return metrics_; }

 private:
  Metrics metrics_;
  ChunkDecoder decoder_;
};

/// Latencies of the last moments of an attack.
struct LatencyGlance {
  std::uint64_t hits{0};
  Nanos p50{0};
  Nanos p99{0};
};

/// Passes the chunks on, and keeps the latest latencies for a live display.
class LiveSink final : public ChunkSink {
 public:
  explicit LiveSink(ChunkSink& next);
  Expected<void> write(std::string_view chunks) override;
  /// The latencies since the last call. From any thread.
  LatencyGlance take_glance();

 private:
  ChunkSink& next_;
  ChunkDecoder decoder_;
  std::mutex mutex_;  ///< Over latest_.
  Metrics latest_;
};

}  // namespace pepe
