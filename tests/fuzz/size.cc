#include <cstdint>
#include <string>

#include "fuzz/input.h"
#include "pepe/base/check.h"
#include "pepe/base/units.h"

/// A size that parses is no limit or a number of bytes, which parses as the same with and without a unit of its own.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = pepe::parse_size(pepe::fuzz::Input{data, size}.rest());
  if (!bytes) {
    PEPE_CHECK(!bytes.error().text().empty());
    return 0;
  }
  PEPE_CHECK(*bytes >= -1);
  const auto again = pepe::parse_size(std::to_string(*bytes));
  PEPE_CHECK(again && *again == *bytes);
  if (*bytes < 0) return 0;
  for (const char* const unit : {"b", " B", "byte"})
    PEPE_CHECK(*pepe::parse_size(std::to_string(*bytes) + unit) == *bytes);
  if (*bytes % 1024 == 0) PEPE_CHECK(*pepe::parse_size(std::to_string(*bytes / 1024) + "KB") == *bytes);
  return 0;
}
