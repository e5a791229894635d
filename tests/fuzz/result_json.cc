#include "fuzz/fuzz_codec.h"
#include "result/json_codec.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pepe::check_codec(pepe::make_json_encoder, pepe::make_json_decoder, data, size);
  return 0;
}
