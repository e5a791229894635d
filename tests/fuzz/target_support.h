#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pepe/target/targeter.h"

namespace pepe::fuzz {

/// What a list yields: its targets, and the error that it ends with ("" when it has none).
struct Yield {
  std::vector<Target> targets;
  std::string error;
};

inline bool same(const Target& a, const Target& b) {
  const bool same_body = a.body && b.body ? *a.body == *b.body : a.body == b.body;
  return a.method == b.method && a.url == b.url && a.headers == b.headers && same_body;
}

inline bool same(const std::vector<Target>& a, const std::vector<Target>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Target& x, const Target& y) { return same(x, y); });
}

/// Reads `text` in pieces of at most `piece` bytes. The content of a body file is its path.
inline Yield read_list(std::unique_ptr<Targeter> (*make)(TargeterOptions), std::string_view text, std::size_t piece) {
  const auto read = [&text, piece](std::span<char> buffer) -> Expected<std::size_t> {
    const std::size_t size = std::min({buffer.size(), text.size(), piece});
    std::copy_n(text.begin(), size, buffer.begin());
    text.remove_prefix(size);
    return size;
  };
  const auto read_file = [](const std::string& path) -> Expected<std::string> { return path; };
  const auto targeter = make({"list", {}, read, read_file, {}});
  Yield yield;
  while (true) {
    auto target = targeter->next();
    if (!target) return yield.error = target.error().text(), yield;
    if (!*target) return yield;
    yield.targets.push_back(**std::move(target));
  }
}

}  // namespace pepe::fuzz
