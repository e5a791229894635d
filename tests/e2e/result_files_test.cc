// Result files that are mixed, cut, foreign or of another version, read by every subcommand of the binary.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "e2e/pepe_binary.h"
#include "pepe/result/chunk_writer.h"
#include "pepe/result/codec.h"
#include "result/chunk_format.h"
#include "result/crc32c.h"
#include "result/endian.h"
#include "support/temp_dir.h"

namespace pepe {
namespace {

using namespace std::string_literals;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::size_t kHits = 5;

/// A stream of kHits results. The first has the number `seq`.
std::string stream(std::string_view encoding, std::uint64_t seq = 0) {
  const auto encoder = find_codec(encoding)->make_encoder();
  std::string out;
  for (std::uint64_t i = 0; i < kHits; ++i) {
    Result result;
    result.seq = seq + i;
    result.code = 200;
    result.timestamp.unix_nanos = 1'700'000'000'000'000'000 + static_cast<std::int64_t>(i) * 10'000'000;
    result.latency = Nanos{1'000'000};
    result.bytes_in = 2;
    result.body = "ok";
    result.method = "GET";
    result.url = "http://127.0.0.1/";
    encoder->encode(result, out);
  }
  encoder->flush(out);
  return out;
}

/// A native chunk with `payload`.
std::string chunk(std::string_view payload) {
  std::string out;
  const std::size_t at = open_chunk(out);
  out += payload;
  close_chunk(out, at);
  return out;
}

/// The native stream `bytes` with something else in its first head, whose checksum is right all the same.
std::string with_head(std::string bytes, std::size_t at, std::string_view value) {
  bytes.replace(at, value.size(), value);
  constexpr std::size_t kHeadCrcAt = 16;
  store_big(bytes.data() + kHeadCrcAt, crc32c({bytes.data(), kHeadCrcAt}));
  return bytes;
}

std::string of_version(char version) { return with_head(stream("msgpack"), 7, {&version, 1}); }
std::string of_length(std::string_view length) { return with_head(stream("msgpack"), 8, length); }

/// A native stream with a key in its map that no reader knows yet.
std::string with_unknown_key() {
  const std::string known = stream("msgpack");
  std::string payload = known.substr(kChunkHeadBytes);
  ++payload[0];  // of the map, whose size is in its first byte
  return chunk(payload.insert(1,
                              "\xA5"
                              "later\x92\xC4\x01x\x81\x01\xCB\x3F\xF8\0\0\0\0\0\0"s));
}

std::string facts() {
  RunFacts facts;
  facts.run_id = 7;
  std::string out;
  append_facts_chunk(facts, out);
  return out;
}

/// "pepe: F: bytes FROM to TO are lost: REASON", and what is said of it at the end.
std::string lost(std::size_t from, std::size_t to, std::string_view reason, bool all = false) {
  return fmt::format("F: bytes {} to {} are lost: {}\n{}", from, to - 1, reason,
                     all ? "all results are lost" : "some results are lost, the others were read");
}

struct FileCase {
  const char* name;
  std::string bytes;
  std::size_t results;  ///< That are read.
  std::string want;     ///< What is said: of remarks without "pepe: ", of failures without the date. Empty: a success.
};

std::vector<FileCase> file_cases() {
  const std::string native = stream("msgpack");
  const std::string gob = stream("gob");
  const std::string json = stream("json");
  const std::string csv = stream("csv");
  const std::size_t end = native.size();
  const std::string undetected = "encode: can't detect encoding of \"F\"";
  return {
      {"NativeThenGob", native + gob, kHits, lost(end, end + gob.size(), "no chunk begins here")},
      {"NativeThenJsonThenNative", native + json + stream("msgpack", 9), 2 * kHits,
       lost(end, end + json.size(), "no chunk begins here")},
      {"NativeThenGarbage", native + "garbage", kHits, lost(end, end + 7, "no chunk begins here")},
      {"NativeThenZeros", native + std::string(100, '\0'), kHits, lost(end, end + 100, "no chunk begins here")},
      {"NativeThenACutHead", native + native.substr(0, 10), kHits,
       lost(end, end + 10, "the stream ends inside a chunk")},
      {"GarbageThenNative", "garbage\n" + native, 0, undetected},
      {"GobThenNative", gob + native, kHits,
       fmt::format("F: gob: record at byte {}: a number of over 8 bytes", gob.size())},
      {"GobThenJson", gob + json, kHits,
       fmt::format("F: gob: record at byte {}: a type number that stands for no result", gob.size())},
      {"GobThenZeros", gob + std::string(9, '\0'), kHits,
       fmt::format("F: gob: record at byte {}: an empty record", gob.size())},
      {"CsvThenJson", csv + json, kHits, "F: csv:6: column 1: a quote within a field that has none around it"},
      {"CsvThenNative", csv + native, kHits, "F: csv:6: 1 columns, want 12"},
      {"CsvThenGarbage", csv + "garbage", kHits, "F: csv:6: column 1 (timestamp): cannot read \"garbage\""},
      {"CsvCut", csv.substr(0, csv.size() - 3), kHits - 1, "F: csv:5: 11 columns, want 12"},
      {"JsonThenCsv", json + csv, kHits, "F: json:6: not an object"},
      {"JsonThenGob", json + gob, kHits, "F: json:6: Invalid value (column 1)"},
      {"JsonThenGarbage", json + "garbage", kHits, "F: json:6: not an object"},
      {"Empty", "", 0, undetected},
      {"OneLineEnd", "\n", 0, undetected},
      {"Zeros", std::string(1000, '\0'), 0, undetected},
      {"OneByteOfAHead", native.substr(0, 1), 0, lost(0, 1, "the stream ends inside a chunk", true)},
      {"OnlyAHead", native.substr(0, kChunkHeadBytes), 0,
       lost(0, kChunkHeadBytes, "the stream ends inside a chunk", true)},
      {"OnlyFacts", facts(), 0, ""},
      {"LaterVersion", of_version(2), 0,
       "F: byte 0: results in version 2 of the format, this pepe reads version 1 only"},
      {"LastVersion", of_version('\xFF'), 0,
       "F: byte 0: results in version 255 of the format, this pepe reads version 1 only"},
      {"LaterVersionBehind", native + of_version(2), kHits,
       fmt::format("F: byte {}: results in version 2 of the format, this pepe reads version 1 only", end)},
      {"KeysOfALaterMinorVersion", with_unknown_key(), kHits, ""},
      {"HostileLength", of_length("\xFF\xFF\xFF\xFF"), 0,
       lost(0, end, "a chunk is longer than the format allows", true)},
      {"LengthOfAGibibyte", of_length("\x40\0\0\0"s), 0, lost(0, end, "the stream ends inside a chunk", true)},
      {"LengthOfNothing", of_length("\0\0\0\0"s), 0, lost(0, end, "a chunk does not fit its checksum", true)},
      {"ListOfFourBillion",
       chunk("\x81\xA4"
             "hits\xDD\xFF\xFF\xFF\xFF"),
       0, "F: chunk at byte 0 is malformed, what is left of it is lost: bad strings\nall results are lost"},
      {"GobOfHugeLength", "\xF8\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF"s, 0, undetected},
      {"GobThenAHugeLength", gob + "\xF8\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF" + std::string(20, 'x'), kHits,
       fmt::format("F: gob: record at byte {}: a record of over 1 GiB", gob.size())},
  };
}

/// What was said, line by line, without dates and "pepe: ".
std::string said(const std::string& err) {
  std::string out;
  for (std::size_t at = 0; at < err.size();) {
    const std::size_t end = err.find('\n', at);
    std::string_view line = std::string_view{err}.substr(at, end - at);
    constexpr std::size_t kDateBytes = sizeof "2026/01/01 00:00:00 " - 1;
    line.remove_prefix(line.starts_with("pepe: ") ? 6 : std::min(line.size(), kDateBytes));
    out += (out.empty() ? "" : "\n") + std::string{line};
    at = end == std::string::npos ? err.size() : end + 1;
  }
  return out;
}

TEST(ResultFiles, GiveWhatTheyHoldAndSayWhatIsLost) {
  for (const FileCase& row : file_cases()) {
    const TempDir dir;
    dir.write("F", row.bytes);
    for (const std::vector<std::string>& args :
         {std::vector<std::string>{"report", "-type=json", "F"}, {"encode", "-to=csv", "F"}, {"plot", "F"}}) {
      SCOPED_TRACE(row.name + " "s + args[0]);
      Launch launch;
      launch.args = args;
      launch.directory = dir.path("");
      const Ended ended = Process{kPepe, launch}.wait();
      EXPECT_EQ(ended.status, row.want.empty() ? 0 : 1);
      EXPECT_EQ(said(ended.err), row.want);
      if (args[0] == "encode") {
        EXPECT_EQ(line_count(ended.out), row.results);
      } else if (row.results == 0 && !row.want.empty()) {
        EXPECT_THAT(ended.out, IsEmpty());
      } else {
        EXPECT_THAT(ended.out, HasSubstr(args[0] == "plot" ? "</html>" : fmt::format("\"requests\":{},", row.results)));
      }
    }
  }
}

TEST(ResultFiles, OfAllEncodingsAreReadTogetherAroundABrokenOne) {
  const TempDir dir;
  std::vector<std::string> args{"report", "-type=json"};
  for (const CodecEntry& codec : codecs()) args.push_back(dir.write(codec.name, stream(codec.name)));
  const Ended whole = run_pepe_binary(args);
  EXPECT_EQ(whole.status, 0) << whole.err;
  EXPECT_THAT(whole.out, HasSubstr(fmt::format("\"requests\":{},", 4 * kHits)));

  args.insert(args.begin() + 3, dir.write("broken", stream("json") + "garbage\n"));
  args.insert(args.begin() + 5, dir.write("torn", facts() + stream("msgpack") + "\xC1pepe"));
  const Ended broken = run_pepe_binary(args);
  EXPECT_EQ(broken.status, 1);
  EXPECT_THAT(broken.out, HasSubstr(fmt::format("\"requests\":{},", 6 * kHits)));
  EXPECT_THAT(broken.err, HasSubstr("torn: bytes "));
  EXPECT_THAT(broken.err, HasSubstr("broken: json:6: "));
}

/// One way to have what is read written over.
struct OverwriteCase {
  const char* name;
  std::vector<std::string> args;  ///< Behind the subcommand.
  bool input;                     ///< Standard input is F.
  bool output;                    ///< Standard output is F, at its end.
};

const OverwriteCase kOverwriteCases[] = {
    {"SameName", {"-output=F", "F"}, false, false},
    {"AnotherPath", {"-output=./F", "F"}, false, false},
    {"HardLink", {"-output=hard", "F"}, false, false},
    {"SymbolicLink", {"-output=F", "soft"}, false, false},
    {"SecondOfTwo", {"-output=F", "G", "F"}, false, false},
    {"DevStdout", {"-output=/dev/stdout", "F"}, false, true},
    {"StandardOutput", {"F"}, false, true},
    {"StandardInput", {"-output=F"}, true, false},
    {"BothStandardStreams", {}, true, true},
    {"DevStdin", {"-output=hard", "/dev/stdin"}, true, false},
};

TEST(ResultFiles, AreNeverWrittenOverWhileTheyAreRead) {
  const TempDir dir;
  const std::string bytes = stream("msgpack");
  dir.write("F", bytes);
  dir.write("G", bytes);
  std::filesystem::create_hard_link(dir.path("F"), dir.path("hard"));
  std::filesystem::create_symlink("F", dir.path("soft"));
  for (const OverwriteCase& row : kOverwriteCases) {
    for (const char* command : {"report", "encode", "plot"}) {
      SCOPED_TRACE(row.name + " "s + command);
      Launch launch;
      launch.directory = dir.path("");
      launch.args = row.args;
      launch.args.insert(launch.args.begin(), command);
      if (row.input) launch.input_descriptor = ::open(dir.path("F").c_str(), O_RDONLY | O_CLOEXEC);
      if (row.output) launch.output_descriptor = ::open(dir.path("F").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
      const Ended ended = Process{kPepe, launch}.wait();
      for (const int opened : {launch.input_descriptor, launch.output_descriptor})
        if (opened >= 0) ::close(opened);
      EXPECT_EQ(ended.status, 1);
      EXPECT_THAT(said(ended.err), testing::MatchesRegex("open [^ ]+: it is one of the inputs as well"));
      ASSERT_EQ(dir.read("F"), bytes);
    }
  }
}

}  // namespace
}  // namespace pepe
