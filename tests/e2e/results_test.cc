#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <thread>

#include "e2e/pepe_binary.h"
#include "pepe/result/chunk_writer.h"
#include "support/temp_dir.h"

namespace pepe {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

/// Results as CSV: `hits` of them, one every 10 ms, from `start` seconds on.
std::string csv(int hits, std::int64_t start = 1'700'000'000) {
  std::string text;
  for (int i = 0; i < hits; ++i) {
    const std::int64_t at = start * 1'000'000'000 + std::int64_t{i} * 10'000'000;
    text += std::to_string(at) + ",200,1000000,0,2,,b2s=,," + std::to_string(i) + ",GET,http://127.0.0.1/,\n";
  }
  return text;
}

/// A pipe that a program reads or writes; both ends are the test's.
struct Pipe {
  int read_end{-1};
  int write_end{-1};

  Pipe() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    read_end = ends[0];
    write_end = ends[1];
  }
  ~Pipe() {
    close_end(read_end);
    close_end(write_end);
  }
  static void close_end(int& end) {
    if (end >= 0) ::close(std::exchange(end, -1));
  }
  void send(std::string_view bytes) const {
    EXPECT_EQ(::write(write_end, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  /// What comes until `mark` was seen, or the end.
  std::string read_until(std::string_view mark) const {
    std::string text;
    std::array<char, 4096> buffer{};
    while (text.find(mark) == std::string::npos) {
      const ssize_t got = ::read(read_end, buffer.data(), buffer.size());
      if (got <= 0) break;
      text.append(buffer.data(), static_cast<std::size_t>(got));
    }
    return text;
  }
};

TEST(Encode, GoesThroughEveryEncodingAndBack) {
  const TempDir dir;
  dir.write("in", csv(50));
  std::string last = "in";
  for (const char* encoding : {"json", "gob", "msgpack", "csv"}) {
    const Ended ended =
        run_pepe_binary({"encode", std::string{"-to="} + encoding, "-output=" + dir.path(encoding), dir.path(last)});
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_THAT(ended.out + ended.err, IsEmpty());
    last = encoding;
  }
  EXPECT_EQ(dir.read("csv"), csv(50));
}

TEST(Encode, KeepsWhatStoodBeforeDamage) {
  const Ended ended = run_pepe_binary({"encode", "-to=csv"}, csv(5) + "garbage\n");
  EXPECT_EQ(ended.status, 1);
  EXPECT_EQ(ended.out, csv(5));
  EXPECT_EQ(line_count(ended.err), 1U);
}

TEST(Encode, PassesOnWhatASlowInputHasGivenSoFar) {
  Pipe in;
  Pipe out;
  Launch launch;
  launch.args = {"encode", "-to=csv"};
  launch.input_descriptor = in.read_end;
  launch.output_descriptor = out.write_end;
  Process process{kPepe, launch};
  in.send(csv(1));
  EXPECT_EQ(out.read_until("\n"), csv(1));
  Pipe::close_end(in.write_end);
  EXPECT_EQ(process.wait().status, 0);
}

TEST(Encode, DiesQuietlyWithItsReader) {
  const TempDir dir;
  const std::string file = dir.write("in", csv(20'000));
  Pipe out;
  Launch launch;
  launch.args = {"encode", "-to=csv", file};
  launch.output_descriptor = out.write_end;
  Process process{kPepe, launch};
  Pipe::close_end(out.write_end);
  EXPECT_THAT(out.read_until("\n"), Not(IsEmpty()));
  Pipe::close_end(out.read_end);
  const Ended ended = process.wait();
  EXPECT_EQ(ended.signal, SIGPIPE);
  EXPECT_THAT(ended.err, IsEmpty());
}

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

/// `bytes` with the bit at `at` the other way round.
std::string flipped(std::string bytes, std::size_t at) {
  bytes[at] = static_cast<char>(bytes[at] ^ 1);
  return bytes;
}

TEST(Results, ThatAreLostAreNeverASuccess) {
  const TempDir dir;
  ASSERT_EQ(run_pepe_binary({"encode", "-to=msgpack", "-output=" + dir.path("one")}, csv(30)).status, 0);
  const std::string one = dir.read("one");
  const std::string cases[] = {one + one.substr(0, one.size() - 1), one + flipped(one, one.size() / 2),
                               flipped(one, one.size() / 2) + one};
  for (const std::string& damaged : cases) {
    SCOPED_TRACE(testing::PrintToString(damaged.size()));
    const std::string file = dir.write("damaged", damaged);
    const Ended report = run_pepe_binary({"report", "-fail-if=max>1ns", file});
    EXPECT_EQ(report.status, 1);
    EXPECT_THAT(report.out, HasSubstr("200:30  \n"));
    EXPECT_THAT(report.err, HasSubstr("pepe: " + file + ": bytes "));
    EXPECT_THAT(report.err, HasSubstr("-fail-if max>1ns"));
    EXPECT_THAT(report.err, EndsWith(" some results are lost, the others were read\n"));
    const Ended encode = run_pepe_binary({"encode", "-to=csv", file});
    EXPECT_EQ(encode.status, 1);
    EXPECT_EQ(encode.out, csv(30));
    const Ended plot = run_pepe_binary({"plot", file});
    EXPECT_EQ(plot.status, 1);
    EXPECT_THAT(plot.out, HasSubstr("</html>"));
  }
}

TEST(Results, OfWhichNoneIsLeftMakeNoReport) {
  const std::string whole = run_pepe_binary({"encode", "-to=msgpack"}, csv(3)).out;
  for (const char* command : {"report", "plot"}) {
    const Ended ended = run_pepe_binary({command}, whole.substr(0, whole.size() - 1));
    EXPECT_EQ(ended.status, 1) << command;
    EXPECT_THAT(ended.out, IsEmpty()) << command;
    EXPECT_THAT(ended.err, EndsWith(" all results are lost\n")) << command;
  }
}

TEST(Results, MayLackTheEndOfTheirLastJsonLine) {
  const std::string line = R"({"code":200,"timestamp":"2023-11-14T22:13:20Z","latency":1})";
  const Ended ended = run_pepe_binary({"encode", "-to=csv"}, line + "\n" + line.substr(0, 30));
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(line_count(ended.out), 1U);
  EXPECT_THAT(ended.err, HasSubstr("the last line is cut"));
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

/// Ten hits of 1 ms each, of which hit i was taken up i ms late, as attack writes them.
std::string late_hits(std::int64_t rate = 100, std::uint64_t missed = 0) {
  std::string out;
  RunFacts facts;
  facts.run_id = 1;
  facts.rate.hits = rate;
  facts.version = "1";
  facts.complete = true;
  facts.missed = missed;
  append_facts_chunk(facts, out);
  ChunkWriter writer{{.run_id = 1}};
  const OutcomeId outcome = writer.intern({.method = "GET", .url = "http://h/", .code = 200});
  for (int i = 0; i < 10; ++i) {
    const Nanos lag{i * 1'000'000};
    writer.add(outcome, static_cast<std::uint64_t>(i), 1'700'000'000'000'000'000 + i * 10'000'000 + lag.count(),
               Nanos{1'000'000}, lag);
  }
  writer.take(out);
  return out;
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

TEST(Outputs, SayThatTheDeviceIsFull) {
  const TempDir dir;
  const std::string file = dir.write("in", csv(5));
  for (const char* command : {"report", "encode", "plot"}) {
    SCOPED_TRACE(command);
    const Ended named = run_pepe_binary({command, "-output=/dev/full", file});
    EXPECT_EQ(named.status, 1);
    EXPECT_THAT(named.err, HasSubstr("write /dev/full: no space left on device"));

    Launch launch;
    launch.args = {command, file};
    launch.output_descriptor = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
    const Ended standard = Process{kPepe, launch}.wait();
    ::close(launch.output_descriptor);
    EXPECT_EQ(standard.status, 1);
    EXPECT_THAT(standard.err, HasSubstr("write stdout: no space left on device"));
  }
}

TEST(Outputs, AreRefusedWhereStandardOutputIsClosed) {
  const TempDir dir;
  Launch launch;
  launch.args = {"report", dir.write("in", csv(5))};
  launch.output_closed = true;
  const Ended ended = Process{kPepe, launch}.wait();
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.err, HasSubstr("open stdout: it is closed"));
}

TEST(Plot, WritesOnePage) {
  const Ended ended = run_pepe_binary({"plot", "-title=a & b"}, csv(20));
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("<title>a &amp; b</title>"));
  EXPECT_THAT(ended.out, HasSubstr("</html>"));
}

}  // namespace
}  // namespace pepe
