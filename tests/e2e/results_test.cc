// What encode and plot make of results, and what every command says where some are lost.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

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
