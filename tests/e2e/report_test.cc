// What report makes of results: which it reads, which figures it shows, and its exit status.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "e2e/pepe_binary.h"
#include "e2e/sample_results.h"
#include "support/pipe.h"
#include "support/temp_dir.h"

namespace pepe {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

TEST(Report, ReadsSeveralFilesOfAnyEncoding) {
  const TempDir dir;
  dir.write("a.csv", csv(30));
  ASSERT_EQ(run_pepe_binary({"encode", "-to=gob", "-output=" + dir.path("b.gob"), dir.path("a.csv")}).status, 0);
  const Ended ended = run_pepe_binary({"report", dir.path("a.csv"), dir.path("b.gob")});
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.err, IsEmpty());
  EXPECT_THAT(ended.out, HasSubstr("Requests      [total, rate, throughput]         60, "));
  EXPECT_THAT(ended.out, HasSubstr("200:60  \n"));
}

TEST(Report, ReadsConcatenatedFiles) {
  const TempDir dir;
  for (const char* encoding : {"gob", "msgpack", "json"}) {
    SCOPED_TRACE(encoding);
    ASSERT_EQ(run_pepe_binary({"encode", std::string{"-to="} + encoding, "-output=" + dir.path("one")}, csv(30)).status,
              0);
    const Ended ended = run_pepe_binary({"report", "-type=json"}, dir.read("one") + dir.read("one"));
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("\"requests\":60,"));
  }
}

TEST(Report, PassesOverAnEmptyFileAmongOthers) {
  const TempDir dir;
  const Ended ended = run_pepe_binary({"report", dir.write("empty", ""), dir.write("full", csv(3))});
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.err, HasSubstr("empty is empty"));
  EXPECT_THAT(ended.out, HasSubstr("200:3  \n"));
}

TEST(Report, TakesADirectoryAmongOthersForNoEmptyFile) {
  const TempDir dir;
  const Ended ended = run_pepe_binary({"report", dir.path("."), dir.write("full", csv(3))});
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.err, HasSubstr("is a directory"));
}

TEST(Report, CountsWhatStoodBeforeDamageAndFails) {
  const TempDir dir;
  const std::string damaged = dir.write("damaged", csv(5) + "garbage\n");
  const std::string whole = dir.write("whole", csv(7));
  const Ended one = run_pepe_binary({"report", damaged});
  EXPECT_EQ(one.status, 1);
  EXPECT_THAT(one.out, HasSubstr("200:5  \n"));
  const Ended several = run_pepe_binary({"report", damaged, whole});
  EXPECT_EQ(several.status, 1);
  EXPECT_THAT(several.out, HasSubstr("200:12  \n"));
  EXPECT_THAT(several.err, HasSubstr("damaged"));
}

TEST(Report, FailsWhereAThresholdIsBroken) {
  const Ended met = run_pepe_binary({"report", "-fail-if=p99>10s"}, csv(10));
  EXPECT_EQ(met.status, 0);
  EXPECT_THAT(met.err, IsEmpty());
  const Ended broken =
      run_pepe_binary({"report", "-fail-if", "p50>1us", "-fail-if=max>1h", "-fail-if=errors<1"}, csv(10));
  EXPECT_EQ(broken.status, 4);
  EXPECT_EQ(broken.out, met.out);
  EXPECT_EQ(broken.err, "pepe: -fail-if p50>1us: p50 is 1ms\npepe: -fail-if errors<1: errors is 0\n");
  EXPECT_EQ(run_pepe_binary({"report", "-fail-if=p99"}, csv(10)).status, 2);
}

TEST(Report, ShowsTheQuantilesThatAreAskedFor) {
  const Ended text = run_pepe_binary({"report", "-quantiles=99.9,0"}, csv(10));
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("Latencies     [min, mean, 99.9, 0, max]  1ms, 1ms, 1ms, 1ms, 1ms\n"));
  const Ended groups = run_pepe_binary({"report", "-quantiles=99.9", "-group-by=url", "-type=json"}, csv(10));
  EXPECT_THAT(groups.out, HasSubstr(R"("mean":1000000,"99.9th":1000000,"max":1000000)"));
  EXPECT_EQ(run_pepe_binary({"report", "-quantiles=50,90,95,99", "-type=json"}, csv(10)).out,
            run_pepe_binary({"report", "-type=json"}, csv(10)).out);
}

TEST(Report, RefusesQuantilesThatNoReportCouldShow) {
  const Ended bad = run_pepe_binary({"report", "-quantiles=50,101"}, csv(1));
  EXPECT_EQ(bad.status, 2);
  EXPECT_THAT(bad.out, IsEmpty());
  EXPECT_THAT(bad.err, StartsWith("invalid value \"50,101\" for flag -quantiles: \"101\" is no percentile: "));
  for (const char* type : {"hist[0,1ms]", "hdrplot"}) {
    const Ended none = run_pepe_binary({"report", "-quantiles=50", std::string{"-type="} + type}, csv(1));
    EXPECT_EQ(none.status, 2);
    EXPECT_THAT(none.err, StartsWith("-quantiles: there are none in a report of -type=h"));
  }
}

TEST(Report, CountsLatenciesFromTheScheduleOnDemand) {
  const std::string results = late_hits();
  const Ended service = run_pepe_binary({"report", "-latency=service"}, results);
  EXPECT_EQ(service.out, run_pepe_binary({"report"}, results).out);
  EXPECT_THAT(service.out, HasSubstr("  1ms, 1ms, 1ms, 1ms, 1ms, 1ms, 1ms\n"));
  const Ended schedule = run_pepe_binary({"report", "-latency=schedule"}, results);
  EXPECT_EQ(schedule.status, 0);
  EXPECT_THAT(schedule.err, IsEmpty());
  EXPECT_THAT(schedule.out, HasSubstr("  1ms, 5.5ms, 5.5ms, 9.5ms, 10ms, 10ms, 10ms\nLatency       [from]  "));
  const auto line_with = [](const std::string& text, const char* label) {
    const std::size_t at = text.find(label);
    return text.substr(at, text.find('\n', at) - at);
  };
  for (const char* label : {"Requests ", "Duration "}) {
    EXPECT_EQ(line_with(schedule.out, label), line_with(service.out, label));
  }
}

TEST(Report, CountsFromTheScheduleInEveryTypeGroupAndLimit) {
  const std::string results = late_hits();
  const auto report = [&results](std::vector<std::string> args) {
    args.insert(args.begin(), {"report", "-latency=schedule"});
    return run_pepe_binary(args, results);
  };
  EXPECT_THAT(report({"-type=json"}).out, HasSubstr(R"("50th":5500000,)"));
  EXPECT_THAT(report({"-type=json"}).out, HasSubstr(R"(,"latency_from":"schedule")"));
  EXPECT_THAT(report({"-type=json", "-group-by=url"}).out, HasSubstr(R"("50th":5500000,)"));
  EXPECT_THAT(report({"-type=hist[0,6ms]"}).out, HasSubstr("+Inf]  5  50.00%"));
  EXPECT_THAT(report({"-type=hdrplot"}).out, HasSubstr("5.500000   0.500000"));
  const Ended broken = report({"-fail-if=max>9ms"});
  EXPECT_EQ(broken.status, 4);
  EXPECT_EQ(broken.err, "pepe: -fail-if max>9ms: max is 10ms\n");
}

TEST(Report, RefusesAScheduleThatNobodyKnows) {
  const TempDir dir;
  const std::string native = dir.write("native", late_hits());
  const std::string plain = dir.write("plain", csv(5));
  for (const char* encoding : {"csv", "json", "gob", "msgpack"}) {
    SCOPED_TRACE(encoding);
    const std::string file = dir.path(encoding);
    ASSERT_EQ(run_pepe_binary({"encode", std::string{"-to="} + encoding, "-output=" + file, plain}).status, 0);
    const Ended ended = run_pepe_binary({"report", "-latency=schedule", file});
    EXPECT_EQ(ended.status, 1);
    EXPECT_THAT(ended.out, IsEmpty());
    EXPECT_THAT(ended.err, HasSubstr(" " + file + ": it does not say how late its hits were sent"));
    EXPECT_EQ(line_count(ended.err), 1U);
    const Ended both = run_pepe_binary({"report", "-latency=schedule", file, native});
    EXPECT_EQ(both.status, 1);
    EXPECT_THAT(both.out, HasSubstr("200:10  \n"));
    EXPECT_THAT(both.err, HasSubstr(" " + file + ": it does not say"));
  }
  const std::string copy = dir.path("copy");
  ASSERT_EQ(run_pepe_binary({"encode", "-to=msgpack", "-output=" + copy, native}).status, 0);
  EXPECT_EQ(run_pepe_binary({"report", "-latency=schedule", copy}).out,
            run_pepe_binary({"report", "-latency=schedule", native}).out);
  EXPECT_EQ(run_pepe_binary({"report", "-latency=due", native}).status, 2);
}

TEST(Report, SaysWhatAScheduleCanNotShow) {
  const Ended missed = run_pepe_binary({"report", "-latency=schedule"}, late_hits(100, 7));
  EXPECT_EQ(missed.status, 0);
  EXPECT_EQ(missed.err, "pepe: 7 hits missed: due and never sent, they are in no latency\n");
  const Ended closed = run_pepe_binary({"report", "-latency=schedule"}, late_hits(0));
  EXPECT_THAT(closed.err, HasSubstr("a closed loop (-rate=0) has no schedule"));
}

// Two targets in turn, of which one fails.
std::string two_targets() {
  std::string out;
  for (int i = 0; i < 10; ++i) {
    out += fmt::format(
        R"({{"code":{},"timestamp":"2023-11-14T22:13:{:02}Z","latency":{},"method":"GET","url":"http://h/{}"}})",
        i % 2 == 0 ? 200 : 500, 20 + i, i % 2 == 0 ? 1000 : 9000, i % 2);
    out += '\n';
  }
  return out;
}

TEST(Report, OfEachGroupStandsByItself) {
  const std::string results = two_targets();
  const Ended text = run_pepe_binary({"report", "-group-by=target"}, results);
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out, StartsWith("target: GET http://h/0\nRequests "));
  EXPECT_THAT(text.out, HasSubstr("\n\ntarget: GET http://h/1\nRequests "));
  const Ended json = run_pepe_binary({"report", "-group-by=code", "-type=json"}, results);
  EXPECT_EQ(line_count(json.out), 2U);
  EXPECT_THAT(json.out, StartsWith(R"({"group":"200","report":{"latencies":)"));
  EXPECT_THAT(json.out, HasSubstr("}}\n{\"group\":\"500\","));
  const Ended broken = run_pepe_binary({"report", "-group-by=target", "-fail-if=p99>5us"}, results);
  EXPECT_EQ(broken.status, 4);
  EXPECT_EQ(broken.err, "pepe: -fail-if GET http://h/1: p99>5us: p99 is 9µs\n");
  EXPECT_EQ(run_pepe_binary({"report", "-group-by=target"}, "").out, run_pepe_binary({"report"}, "").out);
  const std::string forged = R"({"attack":"a\ncode: 5","code":200,"timestamp":"2023-11-14T22:13:20Z","latency":1})";
  EXPECT_THAT(run_pepe_binary({"report", "-group-by=attack"}, forged + "\n").out, StartsWith("attack: a\\ncode: 5\n"));
  EXPECT_EQ(run_pepe_binary({"report", "-group-by=size"}, results).status, 2);
}

TEST(Report, RemarksOnAGapBetweenRuns) {
  const TempDir dir;
  const Ended ended = run_pepe_binary({"report", dir.write("a", csv(10)), dir.write("b", csv(10, 1'700'003'600))});
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.err, HasSubstr("between"));
}

TEST(Report, EndsOnInterruptWithWhatItHas) {
  Pipe in;
  Launch launch;
  launch.args = {"report", "-type=json", "-every=10ms"};
  launch.input_descriptor = in.read_end;
  Pipe out;
  launch.output_descriptor = out.write_end;
  Process process{kPepe, launch};
  in.send(csv(5));
  // An interim report shows that all was read, and that the silent pipe is waited for.
  EXPECT_THAT(out.read_until("\"requests\":5,"), HasSubstr("\"requests\":5,"));
  process.send_signal(SIGINT);
  Pipe::close_end(out.write_end);
  EXPECT_THAT(out.read_until("no such mark"), EndsWith("}\n"));
  const Ended ended = process.wait();
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.err, IsEmpty());
}

TEST(Report, WritesNoScreenCodesIntoAPipe) {
  const Ended ended = run_pepe_binary({"report", "-type=json", "-every=1ns"}, csv(100));
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.out, Not(HasSubstr("\x1b")));
}

TEST(Report, OfAnIntervalThatNeverPassesComesOnce) {
  const Ended once = run_pepe_binary({"report"}, csv(10));
  const Ended ended = run_pepe_binary({"report", "-every=2562047h"}, csv(10));
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.out, once.out);
}

}  // namespace
}  // namespace pepe
