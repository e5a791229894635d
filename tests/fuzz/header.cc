#include <cstdint>
#include <string>

#include "cli/flag_values.h"
#include "fuzz/input.h"
#include "pepe/base/check.h"
#include "pepe/base/control.h"
#include "pepe/base/text.h"

/// A header that parses prints to one that parses as the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto field = pepe::parse_header(pepe::fuzz::Input{data, size}.rest());
  if (!field) {
    PEPE_CHECK(!field.error().text().empty());
    return 0;
  }
  PEPE_CHECK(!field->name.empty() && !field->value.empty() && field->name.find(':') == std::string::npos);
  PEPE_CHECK(pepe::trim(field->name) == field->name && pepe::trim(field->value) == field->value);
  PEPE_CHECK(!pepe::has_control(field->name) && pepe::is_header_value(field->value));
  for (const char* const between : {":", ": ", " :\t"}) {
    const auto again = pepe::parse_header(field->name + between + field->value);
    PEPE_CHECK(again && *again == *field);
  }
  return 0;
}
