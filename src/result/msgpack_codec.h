#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "pepe/result/codec.h"

namespace pepe {

/// The native stream (docs/result-format.md).
CodecEntry::Match detect_msgpack(std::string_view head, bool at_end);
std::unique_ptr<Encoder> make_msgpack_encoder();
std::unique_ptr<Decoder> make_msgpack_decoder(DecoderEvents events, DecodeOptions options);

/// An encoder whose chunks are those of the run `run_id`. Two runs in one stream must not have the same.
std::unique_ptr<Encoder> make_msgpack_encoder(std::uint64_t run_id);

}  // namespace pepe
