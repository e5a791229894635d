#include "fuzz/fuzz_codec.h"
#include "result/chunk_format.h"
#include "result/msgpack_codec.h"

namespace {

std::unique_ptr<pepe::Encoder> make_encoder() { return pepe::make_msgpack_encoder(1); }

}  // namespace

// The bytes as a stream, and as the payload of a chunk: no mutation meets a checksum by chance.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pepe::check_codec(make_encoder, pepe::make_msgpack_decoder, data, size);
  std::string stream;
  const std::size_t payload_at = pepe::open_chunk(stream);
  stream.append(reinterpret_cast<const char*>(data), size);
  pepe::close_chunk(stream, payload_at);
  pepe::check_codec(make_encoder, pepe::make_msgpack_decoder, reinterpret_cast<const std::uint8_t*>(stream.data()),
                    stream.size());
  return 0;
}
