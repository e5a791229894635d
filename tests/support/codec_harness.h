#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pepe/result/codec.h"
#include "support/random_result.h"

namespace pepe {

/// What a decoder made of some bytes.
struct Decoded {
  std::vector<RandomResult> results;
  std::string error;                ///< Empty: it read to the end.
  std::vector<std::string> damage;  ///< What it had to say on the way.
  std::vector<std::string> remarks{};

  friend bool operator==(const Decoded&, const Decoded&) = default;
};

using MakeDecoder = std::unique_ptr<Decoder> (*)(DecoderEvents events, DecodeOptions options);
using MakeEncoder = std::unique_ptr<Encoder> (*)();

/// Decodes all of `bytes`, which come `step` at a time. The window moves to new memory at every step, so that
/// a sanitizer finds a decoder that holds on to old bytes. A decoder that asks for more at the end gets the
/// error "stuck".
Decoded decode_all(MakeDecoder make, std::string_view bytes, std::size_t step = std::string_view::npos,
                   DecodeOptions options = {});

/// The bytes of `results`, flushed.
std::string encode_all(MakeEncoder make, std::vector<RandomResult> results);

}  // namespace pepe
