#include "fuzz/fuzz_codec.h"
#include "result/gob_codec.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pepe::check_codec(pepe::make_gob_encoder, pepe::make_gob_decoder, pepe::fuzz::Input{data, size}.rest());
  return 0;
}
