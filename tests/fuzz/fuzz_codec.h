#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/input.h"
#include "pepe/base/check.h"
#include "support/codec_harness.h"

namespace pepe {

/// What must hold for any bytes that a decoder is given: it decodes the same however they come, and what it made can be
/// written and read again without an error.
inline void check_codec(MakeEncoder make_encoder, MakeDecoder make_decoder, std::string_view bytes) {
  const Decoded whole = decode_all(make_decoder, bytes);
  // Byte by byte now and then, which takes long; else in a few pieces.
  const std::uint64_t dice = fuzz::dice(bytes);
  const std::size_t step = dice % 16 == 0 && bytes.size() < 500 ? 1 : bytes.size() / 8 + 1 + dice / 16 % 16;
  const Decoded cut = decode_all(make_decoder, bytes, step);
  PEPE_CHECK(cut.results == whole.results && cut.error.empty() == whole.error.empty());
  if (whole.results.empty()) return;
  const std::string written = encode_all(make_encoder, whole.results);
  const Decoded again = decode_all(make_decoder, written);
  PEPE_CHECK(again.results.size() == whole.results.size() && again.error.empty());
  PEPE_CHECK(again.damage.empty() && again.remarks.empty());
  // What an encoding cannot hold is lost the first time, and names that became equal by that are put together the
  // second; the third time changes nothing.
  const Decoded joined = decode_all(make_decoder, encode_all(make_encoder, again.results));
  if (joined.results == again.results) return;
  const Decoded last = decode_all(make_decoder, encode_all(make_encoder, joined.results));
  PEPE_CHECK(again.results != whole.results && last.results == joined.results);
}

}  // namespace pepe
