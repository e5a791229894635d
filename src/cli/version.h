#pragma once

#include <string>
#include <string_view>

namespace pepe {

/// Of this build, such as "0.1.0".
std::string_view version();

/// What `-version` prints: four lines, Version, Commit, Runtime and Date.
std::string version_text();

}  // namespace pepe
