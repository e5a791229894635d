#pragma once

#include <string>
#include <string_view>

namespace pepe {

/// Lays out lines whose cells end in tabs, as Go's tabwriter does with a padding of two blanks: neighbouring lines that
/// have a cell in a column share its width, counted in characters. What follows a line's last tab is in no column.
/// Appended to `out`.
void append_columns(std::string_view text, std::string& out);

/// `text` with everything escaped that drives a terminal (\x1b, \x0d, \x9b), but for tabs and line breaks. What is not
/// dangerous stays as it is, UTF-8 or not. Appended to `out`.
void append_terminal_safe(std::string_view text, std::string& out);

}  // namespace pepe
