#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "report/reporters.h"

namespace pepe {
namespace {

std::string error_set(const Metrics& metrics) {
  std::string out;
  write_text_report(metrics, {}, out);
  const std::string heading = "Error Set:\n";
  return out.substr(out.find(heading) + heading.size());
}

void add_error(Metrics& metrics, const std::string& error) {
  Result result;
  result.error = error;
  metrics.add(result);
}

TEST(TextReport, ShowsErrorsThatDifferInThePortAsOneLine) {
  Metrics metrics;
  for (int port = 40'000; port < 40'050; ++port) {
    add_error(metrics, fmt::format("read tcp 127.0.0.1:{}->127.0.0.1:80: read: connection reset by peer", port));
  }
  EXPECT_EQ(error_set(metrics), "read tcp 127.0.0.1:*->127.0.0.1:80: read: connection reset by peer (50 times)\n");
}

TEST(TextReport, ShowsAnErrorThatRepeatsAsItIs) {
  Metrics metrics;
  for (int i = 0; i < 3; ++i) add_error(metrics, "dial tcp 0.0.0.0:0->127.0.0.1:1: connect: connection refused");
  EXPECT_EQ(error_set(metrics), "dial tcp 0.0.0.0:0->127.0.0.1:1: connect: connection refused\n");
}

TEST(TextReport, SaysHowManyErrorsItDoesNotShow) {
  Metrics metrics;
  for (std::size_t i = 0; i < kMaxErrors + 2; ++i) add_error(metrics, fmt::format("error {}", i));
  EXPECT_TRUE(error_set(metrics).ends_with("error 999\n... and 2 more with other errors\n"));
}

TEST(TextReport, KeepsTheTerminalSafe) {
  Metrics metrics;
  add_error(metrics, "500 \x1b[2J");
  EXPECT_EQ(error_set(metrics), "500 \\x1b[2J\n");
}

TEST(TextReport, SortsCodesAsText) {
  Metrics metrics;
  for (const int code : {99, 1000, 0, 200}) {
    Result result;
    result.code = static_cast<std::uint16_t>(code);
    metrics.add(result);
  }
  std::string out;
  write_text_report(metrics, {}, out);
  EXPECT_NE(out.find("Status Codes  [code:count]                      0:1  1000:1  200:1  99:1  \n"),
            std::string::npos);
}

}  // namespace
}  // namespace pepe
