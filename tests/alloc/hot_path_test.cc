#include <gtest/gtest.h>
#include <algorithm>
#include <string>

#include "alloc/load.h"

namespace pepe {
namespace {

constexpr std::size_t kAtOnce = 64;
constexpr std::uint64_t kWarmUp = 4000;
constexpr std::uint64_t kHits = 4000;

class HotPath : public testing::TestWithParam<Load> {};

double per_hit(std::uint64_t count) { return static_cast<double>(count) / kHits; }

TEST_P(HotPath, StaysWithinItsBudgetOnceWarm) {
  const Load& load = GetParam();
  // Some buffer may find its size late, and in the half second that a paced load takes the run looks at its clock a few
  // times: 32 are less than one in a hundred hits.
  const std::uint64_t late_growth = load.paced ? 32 : 4;
  const auto counted = run_load(load, kAtOnce, kWarmUp, kHits);
  ASSERT_TRUE(counted) << counted.error().text();
  const SystemCalls& calls = counted->calls;
  EXPECT_LE(per_hit(counted->allocations - std::min(counted->allocations, late_growth)), load.allocations);
  EXPECT_LE(per_hit(counted->openssl_allocations), load.openssl_allocations);
  // How often it looks at the sockets while it waits for a due time is the machine's to say, not the code's.
  const std::uint64_t total = load.paced ? calls.send + calls.recv : calls.all();
  EXPECT_LE(per_hit(total), load.system_calls)
      << "per hit: " << per_hit(calls.send) << " send, " << per_hit(calls.recv) << " recv, " << per_hit(calls.wait)
      << " waits, " << per_hit(calls.other) << " others";
}

INSTANTIATE_TEST_SUITE_P(Loads, HotPath, testing::ValuesIn(loads().begin(), loads().end()),
                         [](const testing::TestParamInfo<Load>& row) { return std::string{row.param.name}; });

}  // namespace
}  // namespace pepe
