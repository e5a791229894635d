#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

namespace pepe {

/// `a + b`, or the end of the range that it is beyond: figures come from files, and a sum of them never wraps.
template <class T>
constexpr T saturating_add(T a, T b) noexcept {
  static_assert(std::is_integral_v<T>);
  T sum{};
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < T{} ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
}

}  // namespace pepe
