#include <array>

#include "pepe/result/codec.h"
#include "result/csv_codec.h"
#include "result/gob_codec.h"
#include "result/json_codec.h"
#include "result/msgpack_codec.h"

namespace pepe {

std::span<const CodecEntry> codecs() {
  static constexpr std::array<CodecEntry, 4> kCodecs{{
      {"msgpack", detect_msgpack, make_msgpack_encoder, make_msgpack_decoder},
      {"gob", detect_gob, make_gob_encoder, make_gob_decoder},
      {"json", detect_json, make_json_encoder, make_json_decoder},
      {"csv", detect_csv, make_csv_encoder, make_csv_decoder},
  }};
  return kCodecs;
}

const CodecEntry* find_codec(std::string_view name) {
  for (const CodecEntry& codec : codecs()) {
    if (codec.name == name) return &codec;
  }
  return nullptr;
}

}  // namespace pepe
