#pragma once

#include <cstdint>

namespace pepe {

/// Bytes of memory that this process may use: the least of the machine's, its control group's and its address space's.
std::uint64_t usable_memory();

}  // namespace pepe
