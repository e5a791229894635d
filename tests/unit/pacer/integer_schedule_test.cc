#include "pacer/integer_schedule.h"

#include <chrono>
#include <limits>

#include <gtest/gtest.h>

namespace pepe {
namespace {

using namespace std::chrono_literals;

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

}  // namespace
}  // namespace pepe
