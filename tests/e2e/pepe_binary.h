#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "support/process.h"

namespace pepe {

/// The binary under test.
inline const std::string kPepe = PEPE_BINARY;

inline Ended run_pepe_binary(std::vector<std::string> args, std::string input = {}) {
  Launch launch;
  launch.args = std::move(args);
  launch.input = std::move(input);
  return Process{kPepe, launch}.wait();
}

/// How many lines `text` has.
inline std::size_t line_count(const std::string& text) {
  std::size_t lines = 0;
  for (const char c : text) lines += c == '\n' ? 1 : 0;
  return lines;
}

/// The flags that a usage text declares: "-rate", in lines such as "  -rate N[/D]   hits to ...".
inline std::vector<std::string> declared_flags(const std::string& usage) {
  std::vector<std::string> flags;
  std::istringstream lines{usage};
  std::string line;
  while (std::getline(lines, line)) {
    if (line.starts_with("  -")) flags.push_back(line.substr(2, line.find(' ', 2) - 2));
  }
  return flags;
}

}  // namespace pepe
