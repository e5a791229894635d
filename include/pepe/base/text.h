#pragma once

#include <string>
#include <string_view>

#include "pepe/base/expected.h"

namespace pepe {

/// `text` in double quotes, with everything that a terminal would not show as itself escaped, as Go's %q does:
/// quotes and backslashes, control characters (\n, \x1b), bytes that are no UTF-8 (\xff), invisible characters (\u200b).
std::string quote(std::string_view text);

/// `text` without the white space at both ends (blank, \t, \n, \v, \f, \r).
std::string_view trim(std::string_view text) noexcept;

/// Base64 of `bytes`, standard alphabet with padding (RFC 4648, section 4). Appended to `out`.
void append_base64(std::string_view bytes, std::string& out);
/// The inverse. Line breaks are skipped, as in Go. Error: `illegal base64 data at input byte N`.
Expected<std::string> decode_base64(std::string_view text);

}  // namespace pepe
