#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "pepe/base/expected.h"
#include "pepe/target/targeter.h"

namespace pepe {

/// The lines of a target list. Asks for more bytes only when it holds no whole line, so that a list may be written
/// while it is used; keeps at most one line and one read.
class LineReader {
 public:
  /// `name` is the list's, for error texts. A line of more than `most` bytes is an error.
  LineReader(ReadBytes read, std::string name, std::size_t most);

  /// The next line, without its end and without white space at both ends; nullopt at the end of the list. Valid until
  /// the next call. A byte order mark at the start of the list is read over.
  Expected<std::optional<std::string_view>> next();

  /// Gives the line that next() returned last once more.
  void unread() noexcept { again_ = true; }

  /// `NAME:LINE: text`, for the line that next() returned last.
  Error error(std::string text) const { return error_at(line_, std::move(text)); }
  Error error_at(std::uint64_t line, std::string text) const { return Error{std::move(text)}.at(name_, line); }

  std::uint64_t line() const noexcept { return line_; }

 private:
  Expected<std::size_t> find_line_end();
  Expected<bool> fill();
  Expected<void> skip_byte_order_mark();

  ReadBytes read_;
  std::string name_;
  std::size_t most_;
  std::string buffer_;
  std::size_t begin_{0};  // of what was not given out yet
  std::string_view current_;
  std::uint64_t line_{0};
  bool at_end_{false};
  bool again_{false};
};

}  // namespace pepe
