#include "target/line_reader.h"

#include <utility>

#include <fmt/format.h>

#include "pepe/base/text.h"

namespace pepe {
namespace {

constexpr std::size_t kReadSize = 16 * 1024;

}  // namespace

LineReader::LineReader(ReadBytes read, std::string name, std::size_t most)
    : read_{std::move(read)}, name_{std::move(name)}, most_{most} {}

Expected<std::optional<std::string_view>> LineReader::next() {
  if (std::exchange(again_, false)) return std::optional{current_};
  if (line_ == 0) {
    if (auto skipped = skip_byte_order_mark(); !skipped) return std::move(skipped).error();
  }
  const auto end = find_line_end();
  if (!end) return end.error();
  if (*end == begin_ && at_end_) return std::optional<std::string_view>{};

  ++line_;
  current_ = trim(std::string_view{buffer_}.substr(begin_, *end - begin_));
  begin_ = *end;
  return std::optional{current_};
}

/// Where the line that starts at `begin_` ends, behind its line feed; at the end of the list it may lack one.
Expected<std::size_t> LineReader::find_line_end() {
  std::size_t searched = 0;
  while (true) {
    const std::size_t feed = buffer_.find('\n', begin_ + searched);
    if (feed != std::string::npos) return feed + 1;
    searched = buffer_.size() - begin_;
    if (searched > most_)
      return error_at(line_ + 1, fmt::format("the line is too long: want at most {} MB", most_ >> 20));
    if (at_end_) return buffer_.size();
    if (const auto more = fill(); !more) return more.error();
  }
}

/// Reads once. False: the list is at its end.
Expected<bool> LineReader::fill() {
  buffer_.erase(0, std::exchange(begin_, 0));
  const std::size_t held = buffer_.size();
  buffer_.resize(held + kReadSize);
  const auto got = read_(std::span{buffer_}.subspan(held));
  buffer_.resize(held + (got ? *got : 0));
  if (!got) return got.error();
  at_end_ = *got == 0;
  return !at_end_;
}

Expected<void> LineReader::skip_byte_order_mark() {
  constexpr std::string_view kUtf8 = "\xEF\xBB\xBF";
  constexpr std::string_view kUtf16Little = "\xFF\xFE";
  constexpr std::string_view kUtf16Big = "\xFE\xFF";
  // Only a first byte that a mark begins with is worth waiting for more.
  while (buffer_.size() < kUtf8.size() && !at_end_) {
    if (!buffer_.empty() &&
        (!kUtf8.starts_with(buffer_) && !kUtf16Little.starts_with(buffer_) && !kUtf16Big.starts_with(buffer_)))
      break;
    if (const auto more = fill(); !more) return more.error();
  }
  const std::string_view start = buffer_;
  if (start.starts_with(kUtf8)) begin_ = kUtf8.size();
  if (start.starts_with(kUtf16Little) || start.starts_with(kUtf16Big)) {
    return error_at(1, "the list is UTF-16 text (it begins with a byte order mark): save it as UTF-8");
  }
  return {};
}

}  // namespace pepe
