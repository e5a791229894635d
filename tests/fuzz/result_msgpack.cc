#include "fuzz/fuzz_codec.h"
#include "result/chunk_format.h"
#include "result/msgpack_codec.h"

namespace {

std::unique_ptr<pepe::Encoder> make_encoder() { return pepe::make_msgpack_encoder(1); }

}  // namespace

// The bytes as a stream, and as the payload of a chunk: no mutation meets a checksum by chance.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = pepe::fuzz::Input{data, size}.rest();
  pepe::check_codec(make_encoder, pepe::make_msgpack_decoder, bytes);
  std::string stream;
  const std::size_t payload_at = pepe::open_chunk(stream);
  stream.append(bytes);
  pepe::close_chunk(stream, payload_at);
  pepe::check_codec(make_encoder, pepe::make_msgpack_decoder, stream);
  return 0;
}
