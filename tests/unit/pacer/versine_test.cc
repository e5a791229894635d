#include "pacer/versine.h"

#include <gtest/gtest.h>

namespace pepe {
namespace {

struct VersineCase {
  const char* name;
  std::uint64_t angle;
  std::uint64_t want;  ///< Cut to a whole number.
};

constexpr VersineCase kVersineCases[] = {
    {"Nothing", 0, 0},
    {"Smallest", 1, 13'176'794},
    {"AnEighth", 1U << 17, 214'975'604'897'528'074},
    {"AQuarter", 1U << 18, 733'972'625'820'500'306},
    {"AHalf", 1U << 19, 1'467'945'251'641'000'613},
    {"InTheThirdQuarter", 700'001, 1'097'333'359'495'426'847},
    {"ThreeQuarters", 3U << 18, 733'972'625'820'500'306},
    {"NearlyATurn", (1U << 20) - 1, 13'176'794},
    {"ATurn", 1U << 20, 0},
};

TEST(Versine, IsOffByLessThanTwo) {
  for (const VersineCase& row : kVersineCases) {
    SCOPED_TRACE(row.name);
    EXPECT_LE(versine(row.angle), row.want + 2);
    EXPECT_GE(versine(row.angle) + 2, row.want);
  }
}

// What SinePacer rests on, knot by knot: a rate that comes down to 0 does not go below it.
TEST(Versine, FallsNoFasterThanTheMeanRises) {
  constexpr std::uint64_t kMean = std::uint64_t{1} << 42;
  for (std::uint64_t angle = 0; angle < (1U << 20); ++angle)
    ASSERT_LT(versine(angle), versine(angle + 1) + kMean) << angle;
}

}  // namespace
}  // namespace pepe
