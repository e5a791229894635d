#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "pepe/pacer/load.h"

namespace pepe {

inline constexpr Nanos kLongest{std::numeric_limits<std::int64_t>::max()};

/// The load that a row of the registry makes of `flags`. One that it refuses is a fault of the test.
inline Load make_load(std::string_view shape, const LoadFlags& flags) {
  auto load = find_pacer(shape)->make(flags);
  if (!load) ADD_FAILURE() << load.error().text();
  return load ? *std::move(load) : Load{make_constant_pacer({}), {}, {}};
}

/// What a row says against `flags`, or "".
inline std::string refusal(std::string_view shape, const LoadFlags& flags) {
  const auto load = find_pacer(shape)->make(flags);
  return load ? std::string{} : load.error().text();
}

}  // namespace pepe
