#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "support/codec_harness.h"

namespace pepe {

/// What must hold for any bytes that a decoder is given: it decodes the same however they come, and what it
/// made can be written and read again without an error. Aborts when it does not hold.
inline void check_codec(MakeEncoder make_encoder, MakeDecoder make_decoder, const std::uint8_t* data,
                        std::size_t size) {
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  const Decoded whole = decode_all(make_decoder, bytes);
  const std::size_t step = size < 2000 ? 1 : size / 3;
  if (decode_all(make_decoder, bytes, step).results != whole.results) std::abort();
  const std::string written = encode_all(make_encoder, whole.results);
  const Decoded again = decode_all(make_decoder, written);
  if (again.results.size() != whole.results.size() || !again.error.empty()) std::abort();
  if (!again.damage.empty() || !again.remarks.empty()) std::abort();
  // What an encoding cannot hold is lost the first time; the second time changes nothing.
  const std::string rewritten = encode_all(make_encoder, again.results);
  if (decode_all(make_decoder, rewritten).results != again.results) std::abort();
}

}  // namespace pepe
