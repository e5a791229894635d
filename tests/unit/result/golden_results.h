#pragma once

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "pepe/base/check.h"
#include "support/random_result.h"

namespace pepe {

/// The file `name` of tests/golden.
inline std::string golden(const std::string& name) {
  std::ifstream file{PEPE_SOURCE_DIR "/tests/golden/" + name, std::ios::binary};
  PEPE_CHECK(file.is_open());
  return {std::istreambuf_iterator<char>{file}, {}};
}

/// The results of tests/golden/results.gob, .json and .csv, which vegeta 12.13 wrote.
inline std::vector<RandomResult> golden_results() {
  RandomResult plain;
  plain.code = 200;
  plain.timestamp = {1772357400000000250, 0};
  plain.latency = Nanos{1'500'000};
  plain.bytes_in = 5;
  plain.body = "hello";
  plain.method = "GET";
  plain.url = "http://pepe.test/a?x=1&y=<2>";
  plain.has_headers = true;
  plain.headers = {{"X-Kind", "plain"}, {"X-Kind", "second, one"}};

  RandomResult largest;
  largest.attack = "spring \"26\"";
  largest.seq = 1;
  largest.code = 503;
  largest.timestamp = {1772357400100000000, 330};
  largest.latency = Nanos::max();
  largest.bytes_out = UINT64_MAX;
  largest.bytes_in = 3;
  largest.error = "503 Too, \"busy\"";
  largest.body = std::string{"\0\xff\xff", 3};
  largest.method = "POST";
  largest.url = "http://pepe.test/b";
  largest.has_headers = true;

  RandomResult odd;
  odd.attack = "spring \"26\"";
  odd.seq = 300;
  odd.timestamp = {-500'000'000, 0};
  odd.latency = Nanos{-1};
  odd.error = " Get \"http://[::1]:1/\": line\r\nbreak \u2028 \u00e9 \U0001f600 \a\t";
  odd.method = "GET";
  odd.url = "\\.";

  RandomResult zero_time;
  zero_time.seq = UINT64_MAX;
  zero_time.code = 65535;
  zero_time.timestamp = {kZeroTime, 0};
  zero_time.bytes_out = 128;
  zero_time.bytes_in = 65536;
  return {plain, largest, odd, zero_time};
}

}  // namespace pepe
