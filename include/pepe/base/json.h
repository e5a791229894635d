#pragma once

#include <string>
#include <string_view>

namespace pepe {

/// `text` as a JSON string, quotes and all, as Go writes it: <, > and & are escaped, so that it is safe inside HTML; so
/// are U+2028 and U+2029, which end a line in scripts, and, other than by Go, all else outside ASCII that drives a
/// terminal. A byte that is no UTF-8 becomes \ufffd. Appended to `out`.
void append_json_string(std::string_view text, std::string& out);

/// `value` as Go writes a float in JSON: the shortest digits that read back as the same, with an exponent below 1e-6
/// and from 1e21 on. What is no number in JSON becomes 0. Appended to `out`.
void append_json_number(double value, std::string& out);

}  // namespace pepe
