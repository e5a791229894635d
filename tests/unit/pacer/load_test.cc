#include <chrono>

#include "pacer/versine.h"
#include "pacer/whole.h"
#include "schedule.h"

namespace pepe {
namespace {

using namespace std::chrono_literals;

TEST(Pacers, AreFoundByTheirNames) {
  for (const PacerEntry& entry : pacers()) EXPECT_EQ(find_pacer(entry.name), &entry);
  EXPECT_EQ(find_pacer("poisson"), nullptr);
  EXPECT_EQ(find_pacer(""), nullptr);
  EXPECT_EQ(pacer_names(), "constant, linear, sine or step");
}

TEST(Pacers, LeaveAConstantRateAsItIs) {
  const Load load = make_load("constant", {.rate = {3, 7s}, .duration = 2s});
  EXPECT_EQ(load.rate, (Rate{3, 7s}));
  EXPECT_EQ(load.duration, 2s);
  EXPECT_EQ(load.shape, "");
  EXPECT_TRUE(make_load("constant", {.rate = {0, 1s}}).pacer->unpaced());
}

TEST(CommonRates, HaveOneDenominator) {
  const Rate rates[] = {{100, 1s}, {0, 1s}, {1, 250ms}, {7, 3s}};
  const auto common = over_common_denominator(rates);
  ASSERT_TRUE(common);
  EXPECT_EQ(common->per, 3'000'000'000U);
  EXPECT_EQ(common->units, (std::vector<std::uint64_t>{300, 0, 12, 7}));
}

TEST(CommonRates, StayBelowTheirBound) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const Rate fastest[] = {{most, 1ns}, {1, Nanos{1}}};
  const auto common = over_common_denominator(fastest);
  ASSERT_TRUE(common);
  EXPECT_EQ(common->units[0], static_cast<std::uint64_t>(most));
  const Rate hits_too_large[] = {{most, 1ns}, {1, 2ns}};
  EXPECT_FALSE(over_common_denominator(hits_too_large));
  const Rate per_too_large[] = {{1, Nanos{most}}, {1, Nanos{most - 1}}};
  EXPECT_FALSE(over_common_denominator(per_too_large));
}

TEST(LastWhere, FindsItFromAnyGuess) {
  for (const std::uint64_t guess : {0U, 1U, 16U, 17U, 18U, 40U, 99U, 100U, 4'000'000'000U}) {
    for (const std::uint64_t last : {10U, 17U, 50U, 99U})
      EXPECT_EQ(last_where(10, 100, guess, [last](std::uint64_t i) { return i <= last; }), last) << guess;
  }
}

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
