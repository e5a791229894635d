#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "pepe/plot/plot.h"

namespace pepe {
namespace {

Result hit(std::string_view attack, std::uint64_t seq, std::int64_t latency_ms, std::string_view error = "") {
  Result result;
  result.attack = attack;
  result.seq = seq;
  result.timestamp.unix_nanos = 1'700'000'000'000'000'000 + static_cast<std::int64_t>(seq) * 10'000'000;
  result.latency = std::chrono::milliseconds{latency_ms};
  result.error = error;
  return result;
}

std::string page_of(Plot& plot) {
  std::string page;
  EXPECT_TRUE(plot.write(page));
  return page;
}

TEST(PlotPage, HoldsItsPointsAsOneArray) {
  Plot plot{PlotOptions{}};
  plot.add(hit("a", 0, 5));
  plot.add(hit("a", 1, 6, "EOF"));
  Result last = hit("a", 2, 0);
  last.latency = Nanos{7'123'456};
  plot.add(last);
  const std::string page = page_of(plot);
  EXPECT_NE(page.find("\"labels\": [\"Seconds\", \"a: ERROR\", \"a: OK\"]"), std::string::npos);
  EXPECT_NE(page.find("\"rows\": [[0,null,5],\n[0.01,6,null],\n[0.02,null,7.12346]]"), std::string::npos);
  EXPECT_NE(page.find("\"hits\": [1, 2]"), std::string::npos);
}

TEST(PlotPage, IsWholeAndNeedsNothingFromElsewhere) {
  Plot plot{PlotOptions{}};
  plot.add(hit("a", 0, 5));
  const std::string page = page_of(plot);
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  EXPECT_TRUE(page.ends_with("</html>\n"));
  for (const char* reference :
       {" src=", "href=\"http", "@import", "url(", "sourceMappingURL", "fetch(", "XMLHttpRequest("}) {
    const std::size_t found = page.find(reference);
    EXPECT_EQ(found, std::string::npos) << page.substr(found, 80);
  }
}

TEST(PlotPage, EscapesTheTitleAndNames) {
  PlotOptions options;
  options.title = "Run 7 & <b>\"</title><script>alert(1)</script>";
  Plot plot{std::move(options)};
  plot.add(hit("</script><script>alert(1)</script>\u2028", 0, 5));
  const std::string page = page_of(plot);
  EXPECT_NE(page.find("<title>Run 7 &amp; &lt;b&gt;&#34;&lt;/title&gt;"), std::string::npos);
  EXPECT_EQ(page.find("<script>alert(1)"), std::string::npos);
  EXPECT_EQ(page.find("</script><script>alert"), std::string::npos);
}

TEST(PlotPage, StaysUnderTwoMegabytesForManySeriesOfManyPoints) {
  Plot plot{PlotOptions{}};
  for (std::uint64_t i = 0; i < 300'000; ++i) {
    const std::string attack = fmt::format("s{}", i % 300);
    Result result = hit(attack, i / 300, 0);
    result.timestamp.unix_nanos += static_cast<std::int64_t>(i) * 1'234'567;
    result.latency = Nanos{1'000'000 + static_cast<std::int64_t>(i * 7919 % 12'345'678)};
    plot.add(result);
  }
  const std::string page = page_of(plot);
  EXPECT_LT(page.size(), 2'000'000U);
  for (int i = 0; i < 300; ++i) EXPECT_NE(page.find(fmt::format("\"s{}: OK\"", i)), std::string::npos);
}

struct ThresholdCase {
  const char* name;
  std::int64_t threshold;
  std::uint64_t results;
  const char* error;
};

constexpr ThresholdCase kThresholds[] = {
    {"TwoIsTooFewForThree", 2, 3, "lttb: min threshold is 3"},
    {"TwoIsEnoughForTwo", 2, 2, nullptr},
    {"OneIsTooFewForTwo", 1, 2, "lttb: min threshold is 3"},
    {"NegativeIsAlwaysTooFew", -1, 1, "lttb: min threshold is 3"},
    {"NegativeIsEnoughForNone", -1, 0, nullptr},
    {"ZeroTakesAll", 0, 50, nullptr},
    {"ThreeIsFine", 3, 50, nullptr},
    {"TheLargestIsFine", INT64_MAX, 50, nullptr},
};

TEST(PlotPage, RefusesAThresholdThatIsTooSmall) {
  for (const ThresholdCase& row : kThresholds) {
    SCOPED_TRACE(row.name);
    PlotOptions options;
    options.threshold = row.threshold;
    Plot plot{std::move(options)};
    for (std::uint64_t seq = 0; seq < row.results; ++seq) plot.add(hit("", seq, 1));
    std::string page;
    const Expected<void> written = plot.write(page);
    EXPECT_EQ(written.has_value(), row.error == nullptr);
    if (row.error != nullptr) {
      EXPECT_EQ(written.error().text(), row.error);
      EXPECT_TRUE(page.empty());
    }
  }
}

}  // namespace
}  // namespace pepe
