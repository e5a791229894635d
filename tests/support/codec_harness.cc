#include "support/codec_harness.h"

#include <utility>

namespace pepe {

Decoded decode_all(MakeDecoder make, std::string_view bytes, std::size_t step, DecodeOptions options) {
  Decoded out;
  DecoderEvents events;
  events.damage = [&out](std::string text) { out.damage.push_back(std::move(text)); };
  events.remark = [&out](std::string text) { out.remarks.push_back(std::move(text)); };
  const std::unique_ptr<Decoder> decoder = make(std::move(events), options);
  std::size_t given = 0;
  std::string memory;
  InputWindow window;
  Result result;
  for (;;) {
    const Expected<DecodeStatus> status = decoder->next(window, result);
    if (!status) {
      out.error = status.error().text();
      return out;
    }
    if (*status == DecodeStatus::kEnd) return out;
    if (*status == DecodeStatus::kResult) {
      out.results.push_back(copy_of(result));
      continue;
    }
    if (window.at_end) {
      out.error = "stuck";
      return out;
    }
    const std::string_view more = bytes.substr(given, step);
    given += more.size();
    std::string moved{window.rest()};
    moved += more;
    window = {{}, 0, window.offset + window.pos, given == bytes.size()};
    memory = std::move(moved);
    memory.shrink_to_fit();
    window.bytes = memory;
  }
}

std::string encode_all(MakeEncoder make, std::vector<RandomResult> results) {
  const std::unique_ptr<Encoder> encoder = make();
  std::string out;
  for (RandomResult& result : results) encoder->encode(result.view(), out);
  encoder->flush(out);
  return out;
}

}  // namespace pepe
