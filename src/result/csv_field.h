#pragma once

#include <cstddef>
#include <string_view>

namespace pepe {

/// Length of the white space (Unicode's) that `text` begins with. A CSV writer must quote a field that has
/// some, since readers skip it.
std::size_t leading_space(std::string_view text);

}  // namespace pepe
