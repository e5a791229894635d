#pragma once

#include <cstdint>
#include <string>

#include "pepe/result/chunk_writer.h"

namespace pepe {

/// Results as CSV: `hits` of them, one every 10 ms, from `start` seconds on.
inline std::string csv(int hits, std::int64_t start = 1'700'000'000) {
  std::string text;
  for (int i = 0; i < hits; ++i) {
    const std::int64_t at = start * 1'000'000'000 + std::int64_t{i} * 10'000'000;
    text += std::to_string(at) + ",200,1000000,0,2,,b2s=,," + std::to_string(i) + ",GET,http://127.0.0.1/,\n";
  }
  return text;
}

/// Ten hits of 1 ms each, of which hit i was taken up i ms late, as attack writes them.
inline std::string late_hits(std::int64_t rate = 100, std::uint64_t missed = 0) {
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

}  // namespace pepe
