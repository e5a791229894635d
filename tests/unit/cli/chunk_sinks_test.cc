#include "cli/chunk_sinks.h"

#include <gtest/gtest.h>

#include "pepe/result/chunk_writer.h"
#include "support/temp_dir.h"

namespace pepe {
namespace {

/// Chunks of a native stream with `hits` hits, numbered from `first`, of `latency` each.
std::string chunks_of(std::uint64_t first, std::uint64_t hits, Nanos latency) {
  ChunkWriter writer{ChunkWriterOptions{.run_id = 1, .writer = 0}};
  Outcome outcome;
  outcome.method = "GET";
  outcome.url = "http://127.0.0.1/";
  outcome.code = 200;
  outcome.bytes_in = 2;
  outcome.body = "ok";
  outcome.has_body = true;
  const OutcomeId id = writer.intern(outcome);
  for (std::uint64_t i = 0; i < hits; ++i) {
    writer.add(id, first + i, 1'700'000'000'000'000'000, latency, Nanos{0});
  }
  std::string chunks;
  writer.take(chunks);
  return chunks;
}

/// A sink that keeps what it gets, or refuses it.
class MemorySink final : public ChunkSink {
 public:
  Expected<void> write(std::string_view chunks) override {
    if (broken) return Error{"broken"};
    bytes += chunks;
    return {};
  }
  std::string bytes;
  bool broken{false};
};

/// The chunk that states the facts of a run.
std::string facts_chunk() {
  RunFacts run;
  run.run_id = 1;
  std::string chunk;
  append_facts_chunk(run, chunk);
  return chunk;
}

TEST(FileSink, WritesTheFactsWithTheFirstResults) {
  const TempDir dir;
  auto file = OutputFile::open(dir.path("out"));
  ASSERT_TRUE(file);
  FileSink sink{*file, FirstWrite::kWithResults};
  const std::string facts = facts_chunk();
  const std::string results = chunks_of(0, 1, Nanos{5});
  ASSERT_TRUE(sink.write(facts));
  EXPECT_EQ(dir.read("out"), "");
  ASSERT_TRUE(sink.write(results));
  EXPECT_EQ(dir.read("out"), facts + results);
  ASSERT_TRUE(sink.write(facts));
  EXPECT_EQ(dir.read("out"), facts + results + facts);
}

TEST(FileSink, WritesTheFactsAtOnceWhereResultsAreFarOff) {
  const TempDir dir;
  auto file = OutputFile::open(dir.path("out"));
  ASSERT_TRUE(file);
  FileSink sink{*file, FirstWrite::kAtOnce};
  ASSERT_TRUE(sink.write(facts_chunk()));
  EXPECT_EQ(dir.read("out"), facts_chunk());
}

TEST(FileSink, WritesTheFactsOfARunWithoutResults) {
  const TempDir dir;
  auto file = OutputFile::open(dir.path("out"));
  ASSERT_TRUE(file);
  FileSink sink{*file, FirstWrite::kWithResults};
  ASSERT_TRUE(sink.write(facts_chunk()));
  ASSERT_TRUE(sink.finish());
  EXPECT_EQ(dir.read("out"), facts_chunk());
}

TEST(TranscodingSink, WritesEachResultAtOnce) {
  const TempDir dir;
  auto file = OutputFile::open(dir.path("out.csv"));
  ASSERT_TRUE(file);
  TranscodingSink sink{*file, *find_codec("csv")};
  ASSERT_TRUE(sink.write(chunks_of(0, 1, Nanos{5})));
  EXPECT_EQ(dir.read("out.csv"), "1700000000000000000,200,5,0,2,,b2s=,,0,GET,http://127.0.0.1/,\n");
  ASSERT_TRUE(sink.write(chunks_of(1, 1, Nanos{6})));
  EXPECT_EQ(dir.read("out.csv"),
            "1700000000000000000,200,5,0,2,,b2s=,,0,GET,http://127.0.0.1/,\n"
            "1700000000000000000,200,6,0,2,,b2s=,,1,GET,http://127.0.0.1/,\n");
}

TEST(ChunkDecoder, BearsChunksThatComeInPieces) {
  const std::string chunks = chunks_of(0, 100, Nanos{5});
  ChunkDecoder decoder{DecodeOptions{}};
  std::uint64_t results = 0;
  for (const char byte : chunks) {
    ASSERT_TRUE(decoder.decode({&byte, 1}, [&results](const Result&) { ++results; }));
  }
  EXPECT_EQ(results, 100U);
}

TEST(MetricsSink, KeepsTheFigures) {
  MetricsSink sink;
  ASSERT_TRUE(sink.write(facts_chunk()));
  ASSERT_TRUE(sink.write(chunks_of(0, 10, Nanos{7})));
  EXPECT_EQ(sink.metrics().summary().requests, 10U);
  EXPECT_EQ(sink.metrics().quantile(0.5), Nanos{7});
  EXPECT_EQ(sink.metrics().runs().size(), 1U);
}

TEST(LiveSink, PassesChunksOnAndGlancesAtTheLatest) {
  MemorySink memory;
  LiveSink sink{memory};
  const std::string first = chunks_of(0, 10, Nanos{7});
  const std::string second = chunks_of(10, 5, Nanos{9});
  ASSERT_TRUE(sink.write(first));
  LatencyGlance glance = sink.take_glance();
  EXPECT_EQ(glance.hits, 10U);
  EXPECT_EQ(glance.p50, Nanos{7});
  ASSERT_TRUE(sink.write(second));
  glance = sink.take_glance();
  EXPECT_EQ(glance.hits, 5U);
  EXPECT_EQ(glance.p99, Nanos{9});
  EXPECT_EQ(sink.take_glance().hits, 0U);
  EXPECT_EQ(memory.bytes, first + second);
}

TEST(LiveSink, PassesAFailureBack) {
  MemorySink memory;
  memory.broken = true;
  LiveSink sink{memory};
  const auto written = sink.write(chunks_of(0, 1, Nanos{7}));
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().text(), "broken");
}

}  // namespace
}  // namespace pepe
