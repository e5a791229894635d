#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "pepe/pacer/pacer.h"

namespace pepe {
namespace {

using namespace std::chrono_literals;

__extension__ using Wide = unsigned __int128;

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

/// A number whose magnitude is as likely to be small as large.
std::uint64_t any_magnitude(std::mt19937_64& random) {
  const std::uint64_t bits = random();
  return bits >> (random() & 63);
}

std::int64_t any_positive(std::mt19937_64& random) {
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(any_magnitude(random) & static_cast<std::uint64_t>(kMax)));
}

std::vector<Rate> rates() {
  std::vector<Rate> rates = {
      {1, 1s}, {3, 1s},     {7, 3s},          {333, 1s},           {1'000'000'000, 1s},     {2'000'000'000, 1s},
      {1, 1h}, {kMax, 1ns}, {1, Nanos{kMax}}, {kMax, Nanos{kMax}}, {kMax, Nanos{kMax - 1}}, {kMax - 1, Nanos{kMax}}};
  std::mt19937_64 random{1};
  while (rates.size() < 2'000) rates.push_back({any_positive(random), Nanos{any_positive(random)}});
  return rates;
}

TEST(Pacer, DueIsTheExactQuotient) {
  std::mt19937_64 random{2};
  for (const Rate& rate : rates()) {
    const auto pacer = make_constant_pacer(rate);
    for (int i = 0; i < 50; ++i) {
      const std::uint64_t n = any_magnitude(random);
      const Wide want = Wide{n} * static_cast<std::uint64_t>(rate.per.count()) / static_cast<std::uint64_t>(rate.hits);
      const auto got = pacer->due(n);
      SCOPED_TRACE(fmt::format("{} in {} ns, hit {}", rate.hits, rate.per.count(), n));
      if (want > static_cast<std::uint64_t>(kMax)) {
        ASSERT_FALSE(got);
      } else {
        ASSERT_TRUE(got);
        ASSERT_EQ(got->count(), static_cast<std::int64_t>(want));
      }
    }
  }
}

TEST(Pacer, DueTimesNeverGoBack) {
  std::mt19937_64 random{3};
  for (const Rate& rate : rates()) {
    const auto pacer = make_constant_pacer(rate);
    ASSERT_EQ(pacer->due(0), Nanos{0});
    for (int i = 0; i < 50; ++i) {
      const std::uint64_t n = std::min(any_magnitude(random), std::numeric_limits<std::uint64_t>::max() - 1);
      const auto now = pacer->due(n);
      const auto next = pacer->due(n + 1);
      SCOPED_TRACE(fmt::format("{} in {} ns, hit {}", rate.hits, rate.per.count(), n));
      if (next) {
        ASSERT_TRUE(now);
        ASSERT_LE(*now, *next);
      }
    }
  }
}

TEST(Pacer, HitsBeforeIsTheFirstHitNotYetDue) {
  std::mt19937_64 random{4};
  for (const Rate& rate : rates()) {
    const auto pacer = make_constant_pacer(rate);
    for (int i = 0; i < 50; ++i) {
      const Nanos offset{any_positive(random)};
      const std::uint64_t n = pacer->hits_before(offset);
      SCOPED_TRACE(fmt::format("{} in {} ns, offset {}, hits {}", rate.hits, rate.per.count(), offset.count(), n));
      ASSERT_GE(n, 1U);
      const auto last = pacer->due(n - 1);
      ASSERT_TRUE(last);
      ASSERT_LT(*last, offset);
      if (n == std::numeric_limits<std::uint64_t>::max()) continue;  // saturated: later hits may be due before, too
      const auto first_after = pacer->due(n);
      if (first_after) {
        ASSERT_GE(*first_after, offset);
      }
    }
  }
}

TEST(Pacer, EveryUnitHoldsExactlyItsHits) {
  std::mt19937_64 random{5};
  for (const Rate& rate : rates()) {
    const auto pacer = make_constant_pacer(rate);
    const auto hits = static_cast<std::uint64_t>(rate.hits);
    const std::uint64_t most = static_cast<std::uint64_t>(kMax / rate.per.count());
    for (int i = 0; i < 10; ++i) {
      const std::uint64_t units =
          std::min({any_magnitude(random), most, std::numeric_limits<std::uint64_t>::max() / hits});
      SCOPED_TRACE(fmt::format("{} in {} ns, {} units", rate.hits, rate.per.count(), units));
      ASSERT_EQ(pacer->due(units * hits), rate.per * static_cast<std::int64_t>(units));
      ASSERT_EQ(pacer->hits_before(rate.per * static_cast<std::int64_t>(units)), units * hits);
    }
  }
}

}  // namespace
}  // namespace pepe
