#include "engine/body_budget.h"

#include "pepe/base/memory.h"

namespace pepe {

std::uint64_t body_memory_limit() {
  constexpr std::uint64_t kShare = 4;
  return usable_memory() / kShare;
}

}  // namespace pepe
