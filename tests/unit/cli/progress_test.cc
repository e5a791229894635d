#include "cli/progress.h"

#include <gtest/gtest.h>

namespace pepe {
namespace {

using std::chrono::seconds;

TEST(Progress, ShowsRateErrorsLatencyAndLoad) {
  ProgressView view;
  view.counts.elapsed = seconds{12};
  view.counts.sent = 6001;
  view.counts.failed = 3;
  view.counts.in_flight = 2;
  view.duration = seconds{30};
  view.asked = {500, seconds{1}};
  view.reached = 499.84;
  view.latency = {500, std::chrono::microseconds{1200}, std::chrono::microseconds{3400}};
  EXPECT_EQ(format_progress(view),
            "12s of 30s  500/s asked, 499.8/s reached  6,001 sent  3 errors  p50 1.2ms  p99 3.4ms  2 in flight");
}

TEST(Progress, LeavesOutWhatThereIsNot) {
  ProgressView view;
  view.asked = {0, seconds{1}};
  EXPECT_EQ(format_progress(view), "0s  0.0/s reached  0 sent  0 errors  0 in flight");
}

TEST(Progress, GroupsTheDigitsOfLargeNumbers) {
  ProgressView view;
  view.asked = {1, std::chrono::minutes{1}};
  view.counts.sent = 1'234'567;
  EXPECT_EQ(format_progress(view), "0s  0.0166667/s asked, 0.0/s reached  1,234,567 sent  0 errors  0 in flight");
}

}  // namespace
}  // namespace pepe
