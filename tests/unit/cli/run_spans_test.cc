#include "cli/run_spans.h"

#include <gtest/gtest.h>

#include <limits>

namespace pepe {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

/// `hits` hits of a run, one each `every` nanoseconds from `start` on.
void add_run(RunSpans& spans, std::size_t input, const char* attack, std::int64_t start, std::int64_t every, int hits) {
  for (int i = 0; i < hits; ++i) {
    Result result;
    result.attack = attack;
    result.timestamp.unix_nanos = start + i * every;
    spans.add(input, result);
  }
}

TEST(RunSpans, FindTheTimeBetweenRuns) {
  RunSpans spans;
  add_run(spans, 0, "one", 0, kSecond / 10, 11);
  add_run(spans, 1, "two", 3600 * kSecond, kSecond / 10, 11);
  EXPECT_EQ(spans.longest_gap(), std::chrono::seconds{3599});
}

TEST(RunSpans, TellRunsOfOneFileApartByName) {
  RunSpans spans;
  add_run(spans, 0, "one", 0, kSecond / 10, 11);
  add_run(spans, 0, "two", 5 * kSecond, kSecond / 10, 11);
  EXPECT_EQ(spans.longest_gap(), std::chrono::seconds{4});
}

TEST(RunSpans, SeeNoGapWhereRunsOverlapOrFollow) {
  RunSpans overlapping;
  add_run(overlapping, 0, "", 0, kSecond, 10);
  add_run(overlapping, 1, "", 5 * kSecond, kSecond, 10);
  EXPECT_EQ(overlapping.longest_gap(), std::nullopt);

  RunSpans inside;
  add_run(inside, 0, "", 0, kSecond, 100);
  add_run(inside, 1, "", 10 * kSecond, kSecond, 2);
  EXPECT_EQ(inside.longest_gap(), std::nullopt);
}

TEST(RunSpans, SeeNoGapWithinOneRun) {
  RunSpans spans;
  add_run(spans, 0, "", 0, 60 * kSecond, 3);
  EXPECT_EQ(spans.longest_gap(), std::nullopt);
}

TEST(RunSpans, TakeThePaceOfSlowRunsForNoGap) {
  RunSpans spans;
  add_run(spans, 0, "", 0, 60 * kSecond, 3);
  add_run(spans, 1, "", 180 * kSecond, 60 * kSecond, 3);
  EXPECT_EQ(spans.longest_gap(), std::nullopt);
}

TEST(RunSpans, BearTimesAsFarApartAsCanBe) {
  RunSpans spans;
  add_run(spans, 0, "", std::numeric_limits<std::int64_t>::min(), 0, 2);
  add_run(spans, 1, "", std::numeric_limits<std::int64_t>::max(), 0, 2);
  EXPECT_TRUE(spans.longest_gap());
}

TEST(RunSpans, LumpTogetherWhatIsTooMuch) {
  RunSpans spans;
  for (int i = 0; i < 3000; ++i) add_run(spans, 0, std::to_string(i).c_str(), i * kSecond, kSecond, 2);
  EXPECT_EQ(spans.longest_gap(), std::nullopt);
}

}  // namespace
}  // namespace pepe
