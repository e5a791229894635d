#pragma once

#include <string>
#include <string_view>

namespace pepe {

/// Lays out lines whose cells end in tabs, as Go's tabwriter does with a padding of two blanks: neighbouring lines that
/// have a cell in a column share its width, counted in characters. What follows a line's last tab is in no column.
/// Appended to `out`.
void append_columns(std::string_view text, std::string& out);

}  // namespace pepe
