#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace pepe {

/// Room for `count` elements in a list of spares, ahead of time: giving something back must not need memory.
template <class T>
void reserve_for(std::vector<T>& spares, std::size_t count) {
  constexpr std::size_t kLeast = 16;
  if (spares.capacity() < count) spares.reserve(std::max(kLeast, 2 * count));
}

}  // namespace pepe
