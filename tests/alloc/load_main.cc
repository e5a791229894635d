// One load, so many hits: what valgrind runs to count instructions (instructions.py).
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "alloc/load.h"

int main(int argc, char** argv) {
  const auto loads = pepe::loads();
  const auto load = std::find_if(loads.begin(), loads.end(), [argc, argv](const pepe::Load& row) {
    return argc == 3 && std::string_view{row.name} == argv[1];
  });
  if (load == loads.end()) {
    std::fprintf(stderr, "usage: alloc_load LOAD HITS\n");
    return 2;
  }
  constexpr std::size_t kAtOnce = 8;
  const auto counted = pepe::run_load(*load, kAtOnce, 0, std::strtoull(argv[2], nullptr, 10));
  if (!counted) std::fprintf(stderr, "alloc_load: %s\n", counted.error().text().c_str());
  return counted ? 0 : 1;
}
