#include "engine/start_time.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

namespace pepe {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

std::int64_t wall_clock_nanos() {
  return std::chrono::duration_cast<Nanos>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// A busy machine may be too late for a start that is so near, or stand still between the readings of two clocks: of
// many tries one is enough.
TEST(StartTime, IsOneMomentOnTwoClocks) {
  for (const Nanos ahead : {10ms, 120ms}) {
    SCOPED_TRACE(ahead.count());
    Nanos apart = Nanos::max();
    for (int tries = 0; apart >= 10ms && tries < 100; ++tries) {
      AttackOptions options;
      options.start_at = Timestamp{wall_clock_nanos() + ahead.count()};
      options.warmup = 5ms;
      const auto time = await_start(options, {});
      const std::int64_t wall = wall_clock_nanos();
      const Instant now = Clock::now();
      if (!time || time->start.unix_nanos != options.start_at->unix_nanos) continue;
      EXPECT_EQ(time->start_instant - time->warmup_instant, options.warmup);
      apart = Nanos{std::abs((time->start_instant - now).count() - (options.start_at->unix_nanos - wall))};
    }
    EXPECT_LT(apart, 10ms);
  }
}

TEST(StartTime, ThatHasPassedIsAnError) {
  AttackOptions options;
  options.start_at = Timestamp{wall_clock_nanos() + Nanos{1h}.count()};
  options.warmup = 2h;
  const auto time = await_start(options, {});
  ASSERT_FALSE(time);
  EXPECT_THAT(time.error().text(), HasSubstr(" less -warmup=2h0m0s was 1h0m0s ago"));
  options.warmup = Nanos{0};
  options.start_at = Timestamp{1};
  EXPECT_THAT(await_start(options, {}).error().text(), HasSubstr("-start-at=19"));
  options.warmup = Nanos::max();
  EXPECT_THAT(await_start(options, {}).error().text(), HasSubstr(" was 2562047h47m"));
}

TEST(StartTime, WithoutAWishIsNowAndTheWarmUp) {
  AttackOptions options;
  options.warmup = 3s;
  const Instant before = Clock::now();
  const auto time = await_start(options, {});
  ASSERT_TRUE(time);
  EXPECT_GE(time->warmup_instant, before);
  EXPECT_LE(time->warmup_instant, Clock::now());
  EXPECT_EQ(time->start_instant - time->warmup_instant, options.warmup);
}

TEST(StartTime, MayLieBeyondAllClocks) {
  AttackOptions options;
  options.warmup = Nanos::max();
  const auto time = await_start(options, {});
  ASSERT_TRUE(time);
  EXPECT_EQ(time->start_instant, Instant::max());
  EXPECT_LE(time->warmup_instant, Clock::now());
}

}  // namespace
}  // namespace pepe
