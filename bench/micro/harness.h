#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace pepe {

/// Keeps the compiler from dropping the work that made `value`.
template <class T>
void keep(const T& value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

/// What one operation costs.
struct MicroCost {
  double nanos{0};         ///< Of the fastest of several rounds.
  double allocations{0};   ///< Calls of operator new.
  double instructions{0};  ///< In user space; 0 where the kernel does not let them be counted.
};

/// Runs `batch`, which does `operations` of what is measured, once to warm up and then in rounds.
MicroCost measure_micro(std::uint64_t operations, const std::function<void()>& batch);

/// "name  12.3 ns  0.00 allocations  98 instructions", aligned.
void print_micro(const std::string& name, const MicroCost& cost);

}  // namespace pepe
