#include <algorithm>
#include <string_view>

#include "fuzz/fuzz_codec.h"
#include "result/json_codec.h"
#include "support/json_agreement.h"

namespace {

// Both readers see every line, whatever the decoder made of the one before.
void check_readers(std::string_view bytes) {
  pepe::JsonReaders whole;
  pepe::JsonReaders bare{{false, false}};
  while (!bytes.empty()) {
    const std::string_view line = bytes.substr(0, bytes.find('\n'));
    PEPE_CHECK(whole.disagree_on(line).empty() && bare.disagree_on(line).empty());
    bytes.remove_prefix(std::min(line.size() + 1, bytes.size()));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = pepe::fuzz::Input{data, size}.rest();
  check_readers(bytes);
  pepe::check_codec(pepe::make_json_encoder, pepe::make_json_decoder, bytes);
  return 0;
}
