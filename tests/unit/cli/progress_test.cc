#include "cli/progress.h"

#include <gtest/gtest.h>

#include <algorithm>

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
  view.asked = 500;
  view.reached = 499.84;
  view.latency = {500, std::chrono::microseconds{1200}, std::chrono::microseconds{3400}};
  EXPECT_EQ(format_progress(view),
            "12s of 30s  500/s asked, 499.8/s reached  6,001 sent  3 errors  p50 1.2ms  p99 3.4ms  2 in flight");
}

TEST(Progress, LeavesOutWhatThereIsNot) {
  ProgressView view;
  EXPECT_EQ(format_progress(view), "0s  0.0/s reached  0 sent  0 errors  0 in flight");
}

TEST(Progress, GroupsTheDigitsOfLargeNumbers) {
  ProgressView view;
  view.asked = 1.0 / 60;
  view.counts.sent = 1'234'567;
  EXPECT_EQ(format_progress(view), "0s  0.0166667/s asked, 0.0/s reached  1,234,567 sent  0 errors  0 in flight");
}

TEST(Progress, AsksForWhatWasDueInTheTimeThatItReportsOn) {
  // 100 in the first second, none in the second, then 300.
  const auto hits_before = [](Nanos offset) -> std::uint64_t {
    return offset < seconds{2} ? std::min<std::uint64_t>(100, static_cast<std::uint64_t>(offset / Nanos{10'000'000}))
                               : 100 + 300 * static_cast<std::uint64_t>(offset / seconds{1} - 2);
  };
  ProgressLine line{{.hits_before = hits_before, .duration = seconds{3}}, false, [] { return LatencyGlance{}; }};
  testing::internal::CaptureStderr();
  line.update({.elapsed = -seconds{1}});
  line.update({.elapsed = seconds{1}, .sent = 100, .done = 100});
  line.update({.elapsed = seconds{2}, .sent = 100, .done = 100});
  line.update({.elapsed = Nanos{3'001'000'000}, .sent = 400, .done = 399, .in_flight = 1});
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "starts in 1s  0 in flight\n"
            "1s of 3s  100.0/s asked, 100.0/s reached  100 sent  0 errors  0 in flight\n"
            "2s of 3s  0.0/s asked, 0.0/s reached  100 sent  0 errors  0 in flight\n"
            "3s of 3s  299.7/s asked, 298.7/s reached  400 sent  0 errors  1 in flight\n");
}

}  // namespace
}  // namespace pepe
