// What is true of every schedule in the registry, whatever its flags are.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "pepe/pacer/load.h"

namespace pepe {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t kMostHits = std::numeric_limits<std::uint64_t>::max();

using Random = std::mt19937_64;

std::int64_t up_to(std::int64_t most, Random& random) {
  return static_cast<std::int64_t>(random() % (static_cast<std::uint64_t>(most) + 1));
}

/// A number whose magnitude is as likely to be small as large.
std::int64_t any_positive(std::int64_t most, Random& random) {
  return std::min(most,
                  1 + static_cast<std::int64_t>((random() & static_cast<std::uint64_t>(kMax - 1)) >> (random() % 63)));
}

/// What somebody may write, or, one in four, anything that is taken.
Rate any_rate(Random& random) {
  constexpr Nanos kPer[] = {1s, 1s, 1s, 1min, 1h, 250ms, 7s, 1us};
  if (random() % 8 == 0) return {0, 1s};
  if (random() % 4 == 0) return {any_positive(kMax, random), Nanos{any_positive(kMax, random)}};
  return {any_positive(2'000'000, random), kPer[random() % std::size(kPer)]};
}

Nanos any_duration(Random& random) {
  return Nanos{any_positive(random() % 4 == 0 ? kMax : Nanos{48h}.count(), random)};
}

LoadFlags any_flags(Random& random) {
  LoadFlags flags{.rate = any_rate(random)};
  flags.duration = any_duration(random);
  flags.rate_to = any_rate(random);
  flags.amplitude = random() % 4 == 0 ? flags.rate : Rate{up_to(flags.rate.hits, random), flags.rate.per};
  flags.period = any_duration(random);
  for (auto left = random() % 6; left-- > 0;) flags.steps.push_back({any_rate(random), any_duration(random)});
  return flags;
}

long double per_nano(Rate rate) {
  return rate.hits == 0 ? 0 : static_cast<long double>(rate.hits) / static_cast<long double>(rate.per.count());
}

/// The integral of the rate up to `t` nanoseconds.
using Integral = long double (*)(const LoadFlags& flags, long double t);

long double constant_integral(const LoadFlags& flags, long double t) { return per_nano(flags.rate) * t; }

long double linear_integral(const LoadFlags& flags, long double t) {
  const auto duration = static_cast<long double>(flags.duration->count());
  t = std::min(t, duration);
  return t * (per_nano(flags.rate) * (2 * duration - t) + per_nano(*flags.rate_to) * t) / (2 * duration);
}

long double sine_integral(const LoadFlags& flags, long double t) {
  const auto period = static_cast<long double>(flags.period->count());
  const long double turn = 2 * std::acos(-1.0L);
  const long double half = std::sin(turn / 2 * std::fmod(t, period) / period);
  return per_nano(flags.rate) * t + per_nano(*flags.amplitude) * period / turn * 2 * half * half;
}

long double step_integral(const LoadFlags& flags, long double t) {
  long double sum = 0;
  for (std::size_t i = 0; i < flags.steps.size(); ++i) {
    const bool last = i + 1 == flags.steps.size();
    const auto lasts = last ? t : std::min(t, static_cast<long double>(flags.steps[i].lasts.count()));
    sum += per_nano(flags.steps[i].rate) * lasts;
    t -= lasts;
  }
  return sum;
}

const std::map<std::string_view, Integral> kIntegrals = {
    {"constant", constant_integral}, {"linear", linear_integral}, {"sine", sine_integral}, {"step", step_integral}};

/// Hands many loads of each shape to `check`, with chances that are the same each time.
template <class Check>
void for_each_load(std::uint64_t seed, Check check) {
  for (const PacerEntry& entry : pacers()) {
    Random random{seed};
    int made = 0;
    for (int i = 0; i < 3'000; ++i) {
      const LoadFlags flags = any_flags(random);
      const auto load = entry.make(flags);
      if (!load || load->pacer->unpaced()) continue;
      ++made;
      SCOPED_TRACE(fmt::format("{} {}: {} in {}", entry.name, i, load->shape, flags.duration->count()));
      check(entry, flags, *load, random);
      if (testing::Test::HasFatalFailure()) return;
    }
    EXPECT_GT(made, 500) << entry.name;
  }
}

std::uint64_t any_hit(const Load& load, Random& random) {
  const std::uint64_t all = load.pacer->hits_before(load.duration);
  const std::uint64_t any = random() >> (random() % 64);
  return all > 0 && random() % 4 != 0 ? any % all : std::min(any, kMostHits - 1);
}

TEST(Load, DueTimesNeverGoBack) {
  for_each_load(1, [](const PacerEntry&, const LoadFlags&, const Load& load, Random& random) {
    for (int i = 0; i < 20; ++i) {
      const std::uint64_t n = any_hit(load, random);
      const auto now = load.pacer->due(n);
      const auto next = load.pacer->due(n + 1);
      if (!next) continue;
      ASSERT_TRUE(now) << n;
      ASSERT_GE(*now, Nanos{0}) << n;
      ASSERT_LE(*now, *next) << n;
    }
  });
}

TEST(Load, AHitIsCountedFromTheNanosecondAfterItIsDue) {
  for_each_load(2, [](const PacerEntry&, const LoadFlags&, const Load& load, Random& random) {
    for (int i = 0; i < 20; ++i) {
      const std::uint64_t n = any_hit(load, random);
      const auto due = load.pacer->due(n);
      if (!due) continue;
      ASSERT_LE(load.pacer->hits_before(*due), n);
      if (*due < Nanos::max()) {
        ASSERT_GT(load.pacer->hits_before(*due + 1ns), n);
      }
    }
  });
}

TEST(Load, HitsBeforeIsTheFirstHitNotYetDue) {
  for_each_load(3, [](const PacerEntry&, const LoadFlags&, const Load& load, Random& random) {
    EXPECT_EQ(load.pacer->hits_before(0ns), 0U);
    EXPECT_EQ(load.pacer->hits_before(-1ns), 0U);
    for (int i = 0; i < 20; ++i) {
      const Nanos offset{1 + up_to(i < 15 ? load.duration.count() - 1 : kMax - 1, random)};
      const std::uint64_t n = load.pacer->hits_before(offset);
      SCOPED_TRACE(fmt::format("{} before {}", n, offset.count()));
      if (n > 0) {
        const auto last = load.pacer->due(n - 1);
        ASSERT_TRUE(last);
        ASSERT_LT(*last, offset);
      }
      if (n == kMostHits) continue;  // saturated: later hits may be due before, too
      const auto first_after = load.pacer->due(n);
      if (first_after) {
        ASSERT_GE(*first_after, offset);
      }
    }
  });
}

TEST(Load, SendsTheIntegralOfItsRate) {
  for (const PacerEntry& entry : pacers()) ASSERT_TRUE(kIntegrals.contains(entry.name)) << entry.name;
  for_each_load(4, [](const PacerEntry& entry, const LoadFlags& flags, const Load& load, Random& random) {
    for (int i = 0; i < 20; ++i) {
      const Nanos offset{i == 0 ? load.duration.count() : 1 + up_to(load.duration.count() - 1, random)};
      const long double want = kIntegrals.at(entry.name)(flags, static_cast<long double>(offset.count()));
      const std::uint64_t hits = load.pacer->hits_before(offset);
      if (want > 1e18L) {
        ASSERT_GT(hits, 900'000'000'000'000'000U);
        continue;
      }
      // Rounded up, as one hit is due at once; a sine may be off by a quarter of a hit, a long double by its last bits.
      const long double slack = 0.25L + want * 1e-15L;
      ASSERT_GT(static_cast<long double>(hits), want - slack) << offset.count();
      ASSERT_LT(static_cast<long double>(hits), want + 1 + slack) << offset.count();
    }
  });
}

TEST(Load, StatesItsAverageRate) {
  for_each_load(5, [](const PacerEntry&, const LoadFlags&, const Load& load, Random&) {
    if (load.shape.empty() || load.rate.per != load.duration) return;
    EXPECT_EQ(static_cast<std::uint64_t>(load.rate.hits), load.pacer->hits_before(load.duration));
  });
}

}  // namespace
}  // namespace pepe
