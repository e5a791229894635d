// What docs/result-format.md shows is true: its example is what the writer writes, its Python reads what it writes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "native_stream.h"
#include "support/temp_dir.h"

namespace pepe {
namespace {

constexpr std::int64_t kStart = 1'772'323'200'000'000'000;

// The lines of the page's only block in `language`.
std::string block_of_page(std::string_view language) {
  std::ifstream file{PEPE_SOURCE_DIR "/docs/result-format.md"};
  const std::string page{std::istreambuf_iterator<char>{file}, {}};
  const std::string fence = fmt::format("\n```{}\n", language);
  const std::size_t from = page.find(fence);
  if (from == std::string::npos) return {};
  const std::size_t begin = from + fence.size();
  return page.substr(begin, page.find("```", begin) - begin);
}

// As `xxd -g1` prints.
std::string hexdump(std::string_view bytes) {
  std::string out;
  for (std::size_t at = 0; at < bytes.size(); at += 16) {
    const std::string_view line = bytes.substr(at, 16);
    std::string hex;
    std::string text;
    for (const char c : line) {
      hex += fmt::format(" {:02x}", static_cast<unsigned char>(c));
      text += c >= ' ' && c <= '~' ? c : '.';
    }
    out += fmt::format("{:08x}:{:<48}  {}\n", at, hex, text);
  }
  return out;
}

std::string example_stream() {
  ChunkWriter writer{{.run_id = 7}};
  const HeaderView headers[] = {{"Content-Type", "text/plain"}};
  const OutcomeId outcome = writer.intern({.method = "GET",
                                           .url = "http://127.0.0.1/",
                                           .code = 200,
                                           .bytes_in = 2,
                                           .bytes_read = 2,
                                           .headers = headers,
                                           .has_headers = true,
                                           .has_body = true,
                                           .stored = writer.store_body("ok"),
                                           .protocol = Protocol::kHttp1});
  writer.add(outcome, 0, kStart + 20'000, Nanos{1'500'000}, Nanos{20'000});
  return taken(writer);
}

TEST(ResultFormatPage, ShowsTheBytesOfItsExample) { EXPECT_EQ(block_of_page("hexdump"), hexdump(example_stream())); }

struct CommandRun {
  int status{-1};
  std::string output;
};

CommandRun run(const std::string& command) {
  CommandRun out;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return out;
  char buffer[4096];
  for (std::size_t got = 0; (got = fread(buffer, 1, sizeof buffer, pipe)) > 0;) out.output.append(buffer, got);
  out.status = pclose(pipe);
  return out;
}

struct Hit {
  std::uint64_t seq;
  std::int64_t due;
  std::int64_t latency;
  std::int64_t lag;
  int code;
  std::string body;
  int writer;
};

// Out of order, over two writers, with bodies from earlier chunks.
const Hit kHits[] = {
    {0, kStart, 1'500'000, 20'000, 200, "ok", 0},        {2, kStart + 400'000, 90'000, 0, 200, "ok", 0},
    {1, kStart + 200'001, 700, 5, 404, "not found", 0},  {3, kStart + 600'000, 80'000, 300, 200, "other", 1},
    {4, kStart + 800'000, 80'000, 70'000, 200, "ok", 0}, {5, kStart + 1'000'000, 80'000, 0, 200, "other", 1},
};

std::string stream_of_hits() {
  std::string out;
  RunFacts facts;
  facts.run_id = 9;
  append_facts_chunk(facts, out);
  ChunkWriter writers[2]{ChunkWriter{{.run_id = 9, .writer = 0}}, ChunkWriter{{.run_id = 9, .writer = 1}}};
  const HeaderView headers[] = {{"Content-Type", "text/plain"}, {"X-A", "1"}};
  for (const Hit& hit : kHits) {
    ChunkWriter& writer = writers[hit.writer];
    const OutcomeId outcome = writer.intern({.attack = "a",
                                             .method = "GET",
                                             .url = "http://127.0.0.1/",
                                             .code = static_cast<std::uint16_t>(hit.code),
                                             .bytes_in = hit.body.size(),
                                             .bytes_read = hit.body.size(),
                                             .error = hit.code == 404 ? "404 Not Found" : "",
                                             .headers = headers,
                                             .has_headers = true,
                                             .has_body = true,
                                             .stored = writer.store_body(hit.body)});
    writer.add(outcome, hit.seq, hit.due + hit.lag, Nanos{hit.latency}, Nanos{hit.lag});
    if (hit.seq != 0 && hit.seq != 2) writer.take(out);
  }
  return out;
}

TEST(ResultFormatPage, HasAPythonReaderThatReadsEveryField) {
  const std::string script = block_of_page("python");
  EXPECT_LE(std::count(script.begin(), script.end(), '\n'), 30);
  if (run("/usr/bin/python3 -c 'import msgpack' 2>&1").status != 0) {
    GTEST_SKIP() << "needs /usr/bin/python3 with the package msgpack: apt-get install python3-msgpack";
  }
  const TempDir dir;
  const std::string reader = dir.write("read.py", script);
  const std::string results = dir.write("results.bin", stream_of_hits());
  const CommandRun got = run("/usr/bin/python3 " + reader + " " + results + " 2>&1");
  EXPECT_EQ(got.status, 0);
  std::string want;
  for (const Hit& hit : kHits) {
    const int outcome = hit.code == 404 ? 1 : 0;
    want += fmt::format(
        R"({{"attack": "a", "method": "GET", "url": "http://127.0.0.1/", "code": {}, "bytes_out": 0, "bytes_in": {}, )"
        R"("bytes_read": {}, "error": "{}", "headers": [["Content-Type", "text/plain"], ["X-A", "1"]], "body": "{}", )"
        R"("reused": 0, "zone": 0, "protocol": 0, "no_lag": 0, "outcome": {}, "seq": {}, "due": {}, "latency": {}, "lag": {}, "time": {}}})"
        "\n",
        hit.code, hit.body.size(), hit.body.size(), hit.code == 404 ? "404 Not Found" : "", hit.body, outcome, hit.seq,
        hit.due, hit.latency, hit.lag, hit.due + hit.lag);
  }
  EXPECT_EQ(got.output, want);
}

}  // namespace
}  // namespace pepe
