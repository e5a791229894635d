#include "cli/chunk_sinks.h"

#include <utility>

#include "pepe/base/check.h"

namespace pepe {

ChunkDecoder::ChunkDecoder(DecodeOptions options, std::function<void(const RunFacts&)> facts) {
  const CodecEntry* native = find_codec("msgpack");
  PEPE_CHECK(native != nullptr);
  DecoderEvents events;
  events.facts = std::move(facts);
  events.damage = [](const std::string&) {};
  decoder_ = native->make_decoder(std::move(events), options);
}

Expected<void> ChunkDecoder::decode(std::string_view chunks, const std::function<void(const Result&)>& take) {
  // The engine hands over whole chunks, so there is hardly ever a rest, and nothing is copied.
  if (!rest_.empty()) chunks = rest_.append(chunks);
  InputWindow window{.bytes = chunks, .pos = 0, .offset = offset_, .at_end = false};
  Result result;
  while (true) {
    const auto status = decoder_->next(window, result);
    if (!status) return status.error();
    if (*status != DecodeStatus::kResult) break;
    take(result);
  }
  offset_ += window.pos;
  rest_ = std::string{window.rest()};
  return {};
}

Expected<void> FileSink::write(std::string_view chunks) {
  const bool first = !std::exchange(started_, true);
  if (!first && held_.empty()) return file_.write(chunks);
  held_ += chunks;
  return first ? Expected<void>{} : finish();
}

Expected<void> FileSink::finish() {
  auto written = file_.write(held_);
  held_.clear();
  return written;
}

TranscodingSink::TranscodingSink(OutputFile& file, const CodecEntry& codec)
    : file_{file}, encoder_{codec.make_encoder()}, decoder_{DecodeOptions{}} {}

Expected<void> TranscodingSink::write(std::string_view chunks) {
  const auto decoded = decoder_.decode(chunks, [this](const Result& result) { encoder_->encode(result, bytes_); });
  if (!decoded) return decoded;
  encoder_->flush(bytes_);
  auto written = file_.write(bytes_);
  bytes_.clear();
  return written;
}

MetricsSink::MetricsSink()
    : decoder_{{.bodies = false, .headers = false}, [this](const RunFacts& facts) { metrics_.add(facts); }} {}

Expected<void> MetricsSink::write(std::string_view chunks) {
  return decoder_.decode(chunks, [this](const Result& result) { metrics_.add(result); });
}

LiveSink::LiveSink(ChunkSink& next) : next_{next}, decoder_{{.bodies = false, .headers = false}} {}

Expected<void> LiveSink::write(std::string_view chunks) {
  if (auto written = next_.write(chunks); !written) return written;
  const std::lock_guard lock{mutex_};
  return decoder_.decode(chunks, [this](const Result& result) { latest_.add(result); });
}

LatencyGlance LiveSink::take_glance() {
  Metrics latest;
  {
    const std::lock_guard lock{mutex_};
    std::swap(latest, latest_);
  }
  return {latest.summary().requests, latest.quantile(0.5), latest.quantile(0.99)};
}

}  // namespace pepe
