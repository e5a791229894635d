#pragma once

#include <memory>
#include <string_view>

#include "pepe/result/codec.h"

namespace pepe {

CodecEntry::Match detect_csv(std::string_view head, bool at_end);
std::unique_ptr<Encoder> make_csv_encoder();
std::unique_ptr<Decoder> make_csv_decoder(DecoderEvents events, DecodeOptions options);

}  // namespace pepe
