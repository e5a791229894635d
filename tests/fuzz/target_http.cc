#include <cstddef>
#include <cstdint>
#include <string>

#include "fuzz/target_support.h"
#include "pepe/base/check.h"
#include "target/formats.h"

namespace {

std::string print(const std::vector<pepe::Target>& targets) {
  std::string out;
  for (const pepe::Target& target : targets) {
    out += target.method + " " + target.url + "\n";
    for (const pepe::HeaderField& field : target.headers) out += field.name + ": " + field.value + "\n";
    if (target.body) out += "@" + *target.body + "\n";
    out += "\n";
  }
  return out;
}

}  // namespace

/// What parses prints back to itself, and a list reads the same however it comes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  const auto got = pepe::fuzz::read_list(pepe::make_http_targeter, text, size + 1);
  const auto again = pepe::fuzz::read_list(pepe::make_http_targeter, print(got.targets), size + 1);
  PEPE_CHECK(again.error.empty());
  PEPE_CHECK(pepe::fuzz::same(got.targets, again.targets));

  const auto pieces = pepe::fuzz::read_list(pepe::make_http_targeter, text, 3);
  PEPE_CHECK(pieces.error == got.error);
  PEPE_CHECK(pepe::fuzz::same(got.targets, pieces.targets));
  return 0;
}
