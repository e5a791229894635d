#pragma once

#include <cstdio>
#include <cstdlib>

/// Aborts when `condition` is false: a bug in pepe, never bad input.
#define PEPE_CHECK(condition)                                                                         \
  do {                                                                                                \
    if (!(condition)) [[unlikely]] {                                                                  \
      std::fprintf(stderr, "pepe: bug: %s does not hold at %s:%d\n", #condition, __FILE__, __LINE__); \
      std::abort();                                                                                   \
    }                                                                                                 \
  } while (false)
