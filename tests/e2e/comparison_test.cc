// report -type=compare: two files of results, side by side.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "e2e/pepe_binary.h"
#include "e2e/sample_results.h"
#include "support/temp_dir.h"

namespace pepe {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

/// `text` with one blank in place of several: tables are as wide as their widest figure.
std::string narrow(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c != ' ' || !out.ends_with(' ')) out += c;
  }
  return out;
}

TEST(Comparison, ShowsBothSidesAndFailsByTheChange) {
  const TempDir dir;
  const std::string base = dir.write("base", csv(1000));
  const std::string changed = dir.write("changed", late_hits() + late_hits());
  const Ended same = run_pepe_binary({"report", "-type=compare", "-fail-if=p99>+5%", base, base});
  EXPECT_EQ(same.status, 0);
  EXPECT_THAT(same.err, IsEmpty());
  EXPECT_THAT(narrow(same.out), HasSubstr("\nRequests [total] 1000 1000 0 0.00%\n"));
  const Ended broken = run_pepe_binary({"report", "-type=compare", "-fail-if=requests<-97%", "-fail-if=max>=1ms",
                                        "-output=" + dir.path("out"), base, changed});
  EXPECT_EQ(broken.status, 4);
  EXPECT_THAT(broken.out, IsEmpty());
  EXPECT_EQ(broken.err,
            "pepe: -fail-if requests<-97%: requests went from 1000 to 20, by -98.00%\n"
            "pepe: -fail-if max>=1ms: max is 1ms\n");
  EXPECT_THAT(narrow(dir.read("out")), HasSubstr("\nRequests [total] 1000 20 -980 -98.00%\n"));
  const Ended json = run_pepe_binary({"report", "-type=compare-json", "-quantiles=50", base, changed});
  EXPECT_EQ(json.status, 0);
  EXPECT_EQ(line_count(json.out), 1U);
  EXPECT_THAT(json.out, HasSubstr(R"("50th":{"absolute":0,"relative":0,"interval":[0,0],"verdict":"same"})"));
  const Ended schedule = run_pepe_binary({"report", "-type=compare", "-latency=schedule", changed, changed});
  EXPECT_THAT(narrow(schedule.out), HasSubstr("\nfrom schedule [mean] 5.5ms "));
}

TEST(Comparison, RefusesWhatItCanNotDo) {
  const TempDir dir;
  const std::string file = dir.write("file", csv(3));
  const std::vector<std::vector<std::string>> cases = {
      {"-type=compare: want two files", "-type=compare"},
      {"-type=compare: want two files", "-type=compare", file},
      {"-type=compare-json: want two files", "-type=compare-json", file, file, file},
      {"-every: ", "-type=compare", "-every=1s", file, file},
      {"-group-by: ", "-type=compare", "-group-by=url", file, file},
      {"-buckets: ", "-type=compare", "-buckets=[0,1ms]", file, file},
      {"-fail-if p99>+5%: ", "-fail-if=p99>+5%", file},
      {"-fail-if p99>+5%: ", "-type=json", "-group-by=url", "-fail-if=p99>+5%", file},
  };
  for (const std::vector<std::string>& row : cases) {
    std::vector<std::string> args{row.begin() + 1, row.end()};
    SCOPED_TRACE(testing::PrintToString(args));
    args.insert(args.begin(), "report");
    const Ended ended = run_pepe_binary(args);
    EXPECT_EQ(ended.status, 2);
    EXPECT_THAT(ended.out, IsEmpty());
    EXPECT_THAT(ended.err, StartsWith(row[0]));
  }
}

TEST(Comparison, SaysWhatIsLostOnEitherSide) {
  const TempDir dir;
  const std::string whole = dir.write("whole", csv(7));
  const std::string damaged = dir.write("damaged", csv(5) + "garbage\n");
  for (const bool first : {true, false}) {
    const Ended ended = run_pepe_binary(
        {"report", "-type=compare", "-fail-if=requests>1", first ? damaged : whole, first ? whole : damaged});
    EXPECT_EQ(ended.status, 1);
    EXPECT_THAT(narrow(ended.out), HasSubstr(first ? "[total] 5 7 " : "[total] 7 5 "));
    EXPECT_THAT(ended.err, HasSubstr(damaged + ": csv:"));
    EXPECT_THAT(ended.err, HasSubstr("-fail-if requests>1: requests is "));
  }
  for (const std::string& useless : {dir.write("empty", ""), dir.path("missing"), dir.write("text", "hello\n")}) {
    for (const bool first : {true, false}) {
      const Ended ended = run_pepe_binary(
          {"report", "-type=compare", "-output=" + dir.path("out"), first ? useless : whole, first ? whole : useless});
      EXPECT_EQ(ended.status, 1);
      EXPECT_THAT(ended.err, HasSubstr(useless));
      EXPECT_EQ(line_count(ended.err), 1U);
      EXPECT_FALSE(std::filesystem::exists(dir.path("out")));
    }
  }
  const Ended over = run_pepe_binary({"report", "-type=compare", "-output=" + whole, damaged, whole});
  EXPECT_EQ(over.status, 1);
  EXPECT_EQ(dir.read("whole"), csv(7));
}

TEST(Comparison, TakesStandardInputForEitherSide) {
  const TempDir dir;
  const Ended ended = run_pepe_binary({"report", "-type=compare", dir.write("base", csv(7)), "stdin"}, csv(9));
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(narrow(ended.out), HasSubstr("[total] 7 9 "));
}

TEST(Comparison, NamesTheSideWhoseScheduleNobodyKnows) {
  const TempDir dir;
  const std::string known = dir.write("known", late_hits(100, 7));
  const std::string unknown = dir.write("unknown", csv(7));
  const Ended ended = run_pepe_binary({"report", "-type=compare", "-latency=schedule", known, unknown});
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.out, IsEmpty());
  EXPECT_THAT(ended.err, HasSubstr("pepe: " + known + ": 7 hits missed: "));
  EXPECT_THAT(ended.err, HasSubstr(" " + unknown + ": it does not say how late"));
}

}  // namespace
}  // namespace pepe
