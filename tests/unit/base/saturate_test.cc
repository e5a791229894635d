#include "pepe/base/saturate.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace pepe {
namespace {

struct SignedCase {
  const char* name;
  std::int64_t a;
  std::int64_t b;
  std::int64_t sum;
};

constexpr SignedCase kSignedCases[] = {
    {"Small", 5, 3, 8},
    {"BeyondTheTop", INT64_MAX, 1, INT64_MAX},
    {"BeyondTheBottom", INT64_MIN, -1, INT64_MIN},
    {"LeastTaken", 0, INT64_MIN, INT64_MIN},
    {"LeastTwice", INT64_MIN, INT64_MIN, INT64_MIN},
    {"OppositeEnds", INT64_MIN, INT64_MAX, -1},
};

TEST(Saturating, StaysWithinTheRangeOfSignedNumbers) {
  for (const SignedCase& row : kSignedCases) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(saturating_add(row.a, row.b), row.sum);
  }
}

TEST(Saturating, StaysWithinTheRangeOfCounts) {
  EXPECT_EQ(saturating_add<std::uint64_t>(2, 3), 5U);
  EXPECT_EQ(saturating_add<std::uint64_t>(UINT64_MAX, 1), UINT64_MAX);
}

}  // namespace
}  // namespace pepe
