#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "pepe/target/targeter.h"

namespace pepe::testing {

/// A list that comes in given pieces, one for each read, as from a pipe. Counts what is asked for.
class Pipe {
 public:
  explicit Pipe(std::vector<std::string> pieces) : pieces_{std::move(pieces)} {}

  ReadBytes reader() {
    return [this](std::span<char> buffer) -> Expected<std::size_t> {
      if (pieces_.empty()) return ended_ = true, std::size_t{0};
      std::string& piece = pieces_.front();
      const std::size_t size = std::min(piece.size(), buffer.size());
      std::copy_n(piece.begin(), size, buffer.begin());
      piece.erase(0, size);
      if (piece.empty()) pieces_.erase(pieces_.begin());
      return size;
    };
  }

  std::size_t pieces_left() const noexcept { return pieces_.size(); }
  bool ended() const noexcept { return ended_; }

 private:
  std::vector<std::string> pieces_;
  bool ended_{false};
};

/// `text` in pieces of `size` bytes.
inline std::vector<std::string> cut_into(std::string_view text, std::size_t size) {
  std::vector<std::string> pieces;
  for (; !text.empty(); text.remove_prefix(std::min(size, text.size()))) pieces.emplace_back(text.substr(0, size));
  return pieces;
}

/// Files by path, for a list's body lines.
struct Files {
  std::map<std::string, std::string> contents;
  std::size_t reads{0};

  ReadFile reader() {
    return [this](const std::string& path) -> Expected<std::string> {
      ++reads;
      const auto file = contents.find(path);
      if (file == contents.end()) return Error{"open " + path + ": no such file or directory"};
      return file->second;
    };
  }
};

/// A target as one line: "POST http://a/ {X-A: 1} {X-B: 2} <body>".
inline std::string show(const Target& target) {
  std::string out = target.method + " " + target.url;
  for (const HeaderField& field : target.headers) out += fmt::format(" {{{}: {}}}", field.name, field.value);
  if (target.body) out += " <" + *target.body + ">";
  return out;
}

/// What a list yields: its targets as lines, then "error: ..." when it ends with one.
inline std::vector<std::string> drain(Targeter& targeter) {
  std::vector<std::string> lines;
  while (true) {
    const auto target = targeter.next();
    if (!target) return lines.push_back("error: " + target.error().text()), lines;
    if (!*target) return lines;
    lines.push_back(show(**target));
  }
}

}  // namespace pepe::testing
