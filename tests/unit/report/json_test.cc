#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "report/generator.h"
#include "report/reporters.h"

namespace pepe {
namespace {

std::string json_of(const Metrics& metrics) {
  std::string out;
  write_json_report(metrics, {}, out);
  return out;
}

TEST(JsonReport, IsOneLine) {
  Metrics metrics;
  Result result;
  result.error = "two\nlines\x1b \u2028 <&>";
  metrics.add(result);
  const std::string out = json_of(metrics);
  EXPECT_EQ(out.find('\n'), out.size() - 1);
  EXPECT_NE(out.find(R"("errors":["two\nlines\u001b \u2028 \u003c\u0026\u003e"])"), std::string::npos);
}

TEST(JsonReport, HasNoKeysOfItsOwnForStreamsOfVegeta) {
  Metrics metrics;
  metrics.add(Result{});
  EXPECT_TRUE(json_of(metrics).ends_with("\"errors\":[]}\n"));
}

TEST(JsonReport, CountsErrorsOfNativeStreams) {
  Metrics metrics;
  for (const char* error : {"a:1->b: x", "a:2->b: x", "EOF"}) {
    Result result;
    result.error = error;
    metrics.add(result);
  }
  metrics.add(RunFacts{});
  EXPECT_TRUE(
      json_of(metrics).ends_with("\"errors\":[\"a:1-\\u003eb: x\",\"a:2-\\u003eb: "
                                 "x\",\"EOF\"],\"error_counts\":{\"a:*-\\u003eb: x\":2,\"EOF\":1}}\n"));
}

TEST(JsonReport, PutsBucketsSecond) {
  Metrics metrics{{Nanos{0}, Nanos{1000}}};
  Result result;
  result.latency = Nanos{1000};
  metrics.add(result);
  EXPECT_NE(json_of(metrics).find(R"(},"buckets":{"0":0,"1000":1},"bytes_in":)"), std::string::npos);
}

RunFacts complete_run(std::uint64_t sent, std::int64_t worst_lag, const char* limit, std::vector<ThreadFacts> threads) {
  RunFacts run;
  run.complete = true;
  run.rate = {100, std::chrono::seconds{1}};
  run.sent = sent;
  run.missed = 1;
  run.late = 2;
  run.worst_lag = Nanos{worst_lag};
  run.limited = *limit != '\0';
  run.limit = limit;
  run.threads = std::move(threads);
  return run;
}

std::string generator_of(const std::vector<RunFacts>& runs) {
  std::string out;
  append_generator(runs, out);
  return out;
}

TEST(Generator, IsLeftOutUnlessARunIsComplete) {
  EXPECT_EQ(generator_of({}), "");
  EXPECT_EQ(generator_of({RunFacts{}}), "");
}

TEST(Generator, SumsCountsAndTakesTheWorstOfTheRest) {
  EXPECT_EQ(generator_of({complete_run(10, 5, "busy", {{0.25, 0.5}}), RunFacts{},
                          complete_run(20, 3, "", {{0.5, 0.75}}), complete_run(0, 4, "busy", {})}),
            R"(,"generator":{"sent":30,"missed":3,"late":6,"worst_lag":5,"limited":true,"limit":"busy",)"
            R"("planned_rate":300,"busy_shares":[0.25,0.5],"peak_busy_share":0.75})");
}

TEST(Generator, HasNoPlannedRateInAClosedLoop) {
  RunFacts run = complete_run(1, 0, "", {});
  run.rate.hits = 0;
  EXPECT_NE(generator_of({run}).find(R"("planned_rate":0,)"), std::string::npos);
}

TEST(Generator, SaysHowTheRateWasToChange) {
  RunFacts up = complete_run(1, 0, "", {});
  up.pacer = "linear, 0/1s to 5/1s";
  RunFacts down = up;
  down.pacer = "linear, 5/1s to 0/1s";
  EXPECT_NE(generator_of({complete_run(1, 0, "", {}), up, down, up})
                .find(R"("planned_rate":400,"pacer":"linear, 0/1s to 5/1s; linear, 5/1s to 0/1s","busy_shares":)"),
            std::string::npos);
}

TEST(Generator, BoundsWhatManyRunsSay) {
  std::vector<RunFacts> runs;
  for (int i = 0; i < 5000; ++i) runs.push_back(complete_run(1, 0, std::to_string(i).c_str(), {{0.5, 0.5}}));
  EXPECT_LT(generator_of(runs).size(), 8000U);
}

}  // namespace
}  // namespace pepe
