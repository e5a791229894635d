#include "result/run_facts.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "native_stream.h"

namespace pepe {
namespace {

using std::chrono_literals::operator""s;

RunFacts whole_facts() {
  RunFacts facts;
  facts.run_id = UINT64_MAX;
  facts.version = "1.2.3";
  facts.attack = "spring";
  facts.flags = {"-rate=500", "\xff\xfe", ""};
  facts.start = {1'772'323'200'000'000'001, -480};
  facts.rate = {7, 3s};
  facts.pacer = "linear, 0/1s to 5/1s";
  facts.duration = 30s;
  facts.complete = true;
  facts.elapsed = Nanos{30'123'456'789};
  facts.sent = 15'000;
  facts.missed = 12;
  facts.late = 3;
  facts.worst_lag = Nanos{25'000'000};
  facts.limited = true;
  facts.limit = "97 % busy";
  facts.threads = {{0.5, 0.97}, {0, 1}};
  return facts;
}

std::vector<RunFacts> facts_in(std::string_view bytes) {
  std::vector<RunFacts> all;
  DecoderEvents events;
  events.facts = [&](const RunFacts& facts) { all.push_back(facts); };
  events.damage = [](const std::string& text) { ADD_FAILURE() << text; };
  const auto decoder = make_msgpack_decoder(std::move(events), {});
  InputWindow window{.bytes = bytes, .at_end = true};
  Result result;
  const auto status = decoder->next(window, result);
  EXPECT_TRUE(status && *status == DecodeStatus::kEnd);
  return all;
}

void expect_equal(const RunFacts& got, const RunFacts& want) {
  EXPECT_EQ(got.run_id, want.run_id);
  EXPECT_EQ(got.version, want.version);
  EXPECT_EQ(got.attack, want.attack);
  EXPECT_EQ(got.flags, want.flags);
  EXPECT_EQ(got.start, want.start);
  EXPECT_EQ(got.rate, want.rate);
  EXPECT_EQ(got.pacer, want.pacer);
  EXPECT_EQ(got.duration, want.duration);
  EXPECT_EQ(got.complete, want.complete);
  EXPECT_EQ(got.elapsed, want.elapsed);
  EXPECT_EQ(got.sent, want.sent);
  EXPECT_EQ(got.missed, want.missed);
  EXPECT_EQ(got.late, want.late);
  EXPECT_EQ(got.worst_lag, want.worst_lag);
  EXPECT_EQ(got.limited, want.limited);
  EXPECT_EQ(got.limit, want.limit);
  ASSERT_EQ(got.threads.size(), want.threads.size());
  for (std::size_t i = 0; i < want.threads.size(); ++i) {
    EXPECT_EQ(got.threads[i].busy_share, want.threads[i].busy_share);
    EXPECT_EQ(got.threads[i].peak_busy_share, want.threads[i].peak_busy_share);
  }
}

TEST(FactsChunk, StatesTheFactsEachTime) {
  std::string stream;
  append_facts_chunk(RunFacts{}, stream);
  append_facts_chunk(whole_facts(), stream);
  const std::vector<RunFacts> all = facts_in(stream);
  ASSERT_EQ(all.size(), 2U);
  expect_equal(all[0], RunFacts{});
  expect_equal(all[1], whole_facts());
}

TEST(FactsChunk, OfAnEndKeepsWhatTheStartSaid) {
  RunFacts start = whole_facts();
  start.complete = false;
  RunFacts end;
  end.run_id = start.run_id;
  end.rate = {0, Nanos{0}};
  end.complete = true;
  end.sent = 77;
  std::string stream;
  append_facts_chunk(start, stream);
  const std::size_t start_bytes = stream.size();
  append_facts_chunk(end, stream);
  EXPECT_LT(stream.size() - start_bytes, 80U);
  const std::vector<RunFacts> all = facts_in(stream);
  ASSERT_EQ(all.size(), 2U);
  RunFacts want = start;
  want.complete = true;
  want.sent = 77;
  expect_equal(all[1], want);
}

TEST(FactsChunk, OfAnotherRunStartsFromNothing) {
  RunFacts other;
  other.run_id = 5;
  other.rate = {0, Nanos{0}};
  std::string stream;
  append_facts_chunk(whole_facts(), stream);
  append_facts_chunk(other, stream);
  const std::vector<RunFacts> all = facts_in(stream);
  ASSERT_EQ(all.size(), 2U);
  expect_equal(all[1], other);
}

TEST(ParseRunFacts, PassesOverWhatItDoesNotKnow) {
  // {"sent": 7, "colour": ["red"], 5: nil, "late": "many"}
  const std::string map{
      "\x84\xA4sent\x07\xA6"
      "colour\x91\xA3red\x05\xC0\xA4late\xA4many"};
  const std::optional<RunFacts> facts = parse_run_facts(map, no_facts());
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->sent, 7U);
  EXPECT_EQ(facts->late, 0U);
}

TEST(ParseRunFacts, RefusesWhatIsNoMapOfBoundedSize) {
  EXPECT_FALSE(parse_run_facts("\x91\x01", no_facts()));
  EXPECT_FALSE(parse_run_facts("\x81\xA4sent", no_facts()));
  EXPECT_FALSE(
      parse_run_facts("\x81\xA5"
                      "flags\xDD\xFF\xFF\xFF\xFF",
                      no_facts()));
  EXPECT_FALSE(parse_run_facts("", no_facts()));
  std::string deep{"\x81\xA1x"};
  deep.append(100'000, '\x91');
  EXPECT_FALSE(parse_run_facts(deep, no_facts()));
}

}  // namespace
}  // namespace pepe
