#pragma once

#include <string>
#include <string_view>

#include "pepe/base/expected.h"

namespace pepe {

/// Appends what decode_base64() would return, without an allocation once `out` has grown. Error: the same.
Expected<void> append_from_base64(std::string_view text, std::string& out);

/// The error of append_from_base64(), if it has one, for a caller who does not want the bytes.
Expected<void> check_base64(std::string_view text);

}  // namespace pepe
