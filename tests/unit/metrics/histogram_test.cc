#include "metrics/histogram.h"

#include <vector>

#include <gtest/gtest.h>

namespace pepe {
namespace {

using Counts = std::vector<std::uint64_t>;

struct HistogramCase {
  const char* name;
  std::vector<std::int64_t> bounds;
  std::vector<std::int64_t> latencies;
  Counts want;
};

const HistogramCase kCases[] = {
    {"ABoundBelongsToTheBucketItOpens", {0, 10, 20}, {0, 9, 10, 19, 20}, {2, 2, 1}},
    {"AboveTheLastBoundIsTheLastBucket", {0, 10}, {11, INT64_MAX}, {0, 2}},
    {"BelowTheFirstBoundIsTheLastBucket", {5, 10}, {4, -1}, {0, 2}},
    {"OneBound", {0}, {0, 7}, {2}},
    {"EqualBoundsHoldNothing", {0, 10, 10, 20}, {10, 15}, {0, 0, 2, 0}},
    {"OutOfOrderTheFirstThatFits", {0, 10, 5, 50}, {7, 20, 60}, {1, 0, 1, 1}},
};

TEST(BucketHistogram, CountsEachLatencyOnce) {
  for (const HistogramCase& row : kCases) {
    SCOPED_TRACE(row.name);
    BucketHistogram histogram{std::vector<Nanos>(row.bounds.begin(), row.bounds.end())};
    for (const std::int64_t latency : row.latencies) histogram.add(Nanos{latency});
    EXPECT_EQ(histogram.counts(), row.want);
  }
}

}  // namespace
}  // namespace pepe
