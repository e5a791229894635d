#include <algorithm>
#include <cstdlib>
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
    if (!whole.disagree_on(line).empty() || !bare.disagree_on(line).empty()) std::abort();
    bytes.remove_prefix(std::min(line.size() + 1, bytes.size()));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check_readers({reinterpret_cast<const char*>(data), size});
  pepe::check_codec(pepe::make_json_encoder, pepe::make_json_decoder, data, size);
  return 0;
}
