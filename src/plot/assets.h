#pragma once

#include <string_view>

namespace pepe {

// The files that every page holds, made part of the binary by cmake/PepeEmbed.cmake.
extern const std::string_view kDygraphScript;
extern const std::string_view kDygraphStyle;
extern const std::string_view kPlotScript;
extern const std::string_view kPlotStyle;

}  // namespace pepe
