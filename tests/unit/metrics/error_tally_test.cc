#include "metrics/error_tally.h"

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace pepe {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{4} << 20;

struct MaskCase {
  const char* name;
  const char* text;
  const char* want;
};

constexpr MaskCase kMaskCases[] = {
    {"Read", "read tcp 127.0.0.1:40312->127.0.0.1:80: read: reset", "read tcp 127.0.0.1:*->127.0.0.1:80: read: reset"},
    {"Ipv6", "write tcp [::1]:5->[::1]:80: broken pipe", "write tcp [::1]:*->[::1]:80: broken pipe"},
    {"Two", "a:1->b:2 c:3->d:4", "a:*->b:2 c:*->d:4"},
    {"NoPort", "a->b 7->8 :->x", "a->b 7->8 :->x"},
    {"NoArrow", "Get \"http://h:80/\": EOF", "Get \"http://h:80/\": EOF"},
    {"Stream", "Get \"u\": stream error: stream ID 17; CANCEL", "Get \"u\": stream error: stream ID *; CANCEL"},
    {"NoStream", "stream ID ; stream ID", "stream ID ; stream ID"},
    {"StreamAtTheEnd", "stream ID 1", "stream ID *"},
    {"Empty", "", ""},
    {"ArrowFirst", "->:1->", "->:*->"},
};

TEST(MaskPassingNumbers, ReplacesThePortBeforeAnArrowAndTheStream) {
  for (const MaskCase& row : kMaskCases) {
    SCOPED_TRACE(row.name);
    std::string out;
    mask_passing_numbers(row.text, out);
    EXPECT_EQ(out, row.want);
  }
}

MetricsSummary summary_of(const ErrorTally& tally) {
  MetricsSummary summary;
  tally.write_to(summary);
  return summary;
}

std::string reset_at(int port) { return fmt::format("read tcp 10.0.0.1:{}->10.0.0.2:80: reset", port); }

TEST(ErrorTally, ListsTextsInOrderOfFirstAppearance) {
  ErrorTally tally{kMaxBytes};
  for (const char* error : {"zeta", "alpha", "zeta", "mid", "alpha", "zeta"}) tally.add(error);
  const MetricsSummary summary = summary_of(tally);
  using Rows = std::vector<std::pair<std::string, std::uint64_t>>;
  EXPECT_EQ(summary.errors, (Rows{{"zeta", 3}, {"alpha", 2}, {"mid", 1}}));
  EXPECT_EQ(summary.errors_left_out, 0U);
}

TEST(ErrorTally, TellsTextsApartThatFollowOneAnotherInTheSameMemory) {
  ErrorTally tally{kMaxBytes};
  std::string memory = "first";
  tally.add(memory);
  memory = "other";
  tally.add(memory);
  tally.add(memory);
  EXPECT_EQ(summary_of(tally).errors.back(), (std::pair<std::string, std::uint64_t>{"other", 2}));
}

TEST(ErrorTally, CountsWholeKindsHoweverManyTextsTheyHave) {
  ErrorTally tally{kMaxBytes};
  for (int port = 1; port <= 5000; ++port) tally.add(reset_at(port));
  tally.add("EOF");
  tally.add("EOF");
  const MetricsSummary summary = summary_of(tally);
  ASSERT_EQ(summary.error_kinds.size(), 2U);
  EXPECT_EQ(summary.error_kinds[0].text, "read tcp 10.0.0.1:*->10.0.0.2:80: reset");
  EXPECT_EQ(summary.error_kinds[0].count, 5000U);
  EXPECT_TRUE(summary.error_kinds[0].merged);
  EXPECT_EQ(summary.error_kinds[1].text, "EOF");
  EXPECT_EQ(summary.error_kinds[1].count, 2U);
  EXPECT_FALSE(summary.error_kinds[1].merged);
  EXPECT_LE(summary.errors.size(), 2 * kMaxErrors);
  EXPECT_EQ(summary.errors_left_out, 0U);
}

TEST(ErrorTally, KeepsTheTextOfAKindThatHasOne) {
  ErrorTally tally{kMaxBytes};
  for (int i = 0; i < 3; ++i) tally.add(reset_at(7));
  const MetricsSummary summary = summary_of(tally);
  EXPECT_EQ(summary.error_kinds.front().text, reset_at(7));
  EXPECT_EQ(summary.error_kinds.front().count, 3U);
}

TEST(ErrorTally, CountsWhatItCannotList) {
  ErrorTally tally{kMaxBytes};
  for (std::size_t i = 0; i < kMaxErrors + 25; ++i) tally.add(fmt::format("error {}", i));
  EXPECT_EQ(summary_of(tally).errors.size(), kMaxErrors);
  EXPECT_EQ(summary_of(tally).errors_left_out, 25U);
}

TEST(ErrorTally, BoundsEachTextAndAllOfThem) {
  ErrorTally tally{kMaxBytes};
  for (std::size_t i = 0; i < kMaxErrors; ++i) tally.add(fmt::format("{:06}", i) + std::string(100'000, 'x'));
  const MetricsSummary summary = summary_of(tally);
  std::size_t bytes = 0;
  for (const auto& [text, count] : summary.errors) {
    EXPECT_LE(text.size(), ErrorTally::kMaxErrorText);
    bytes += text.size();
  }
  EXPECT_LE(bytes, kMaxBytes);
  EXPECT_EQ(summary.errors.size() + summary.errors_left_out, kMaxErrors);
}

}  // namespace
}  // namespace pepe
