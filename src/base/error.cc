#include "pepe/base/error.h"

#include <cctype>
#include <system_error>

namespace pepe {

std::string errno_text(int errno_value) {
  std::string text = std::generic_category().message(errno_value);
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

Error system_error(std::string_view text, int errno_value) {
  return Error{std::string{text} + ": " + errno_text(errno_value)};
}

}  // namespace pepe
