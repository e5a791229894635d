#include "target/line_reader.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/target/target_list.h"

namespace pepe {
namespace {

using testing::cut_into;
using testing::Pipe;

constexpr std::size_t kMost = std::size_t{1} << 20;

std::vector<std::string> lines_of(std::vector<std::string> pieces) {
  Pipe pipe{std::move(pieces)};
  LineReader reader{pipe.reader(), "t", kMost};
  std::vector<std::string> lines;
  while (true) {
    const auto line = reader.next();
    if (!line) return lines.push_back("error: " + line.error().text()), lines;
    if (!*line) return lines;
    lines.emplace_back(**line);
  }
}

struct LinesCase {
  const char* name;
  std::string text;
  std::vector<std::string> want;
};

const LinesCase kLinesCases[] = {
    {"Nothing", "", {}},
    {"OneLine", "a\n", {"a"}},
    {"NoFinalNewline", "a\nb", {"a", "b"}},
    {"BlankLines", "\n\na\n\n", {"", "", "a", ""}},
    {"CarriageReturns", "a\r\n\r\nb\r\n", {"a", "", "b"}},
    {"WhiteSpaceAround", "  a b \t\n", {"a b"}},
    {"OnlyWhiteSpace", "   ", {""}},
    {"ByteOrderMark",
     "\xEF\xBB\xBF"
     "a\nb",
     {"a", "b"}},
    {"OnlyAByteOrderMark", "\xEF\xBB\xBF", {}},
    {"MarkLaterStays",
     "a\n\xEF\xBB\xBF"
     "b",
     {"a",
      "\xEF\xBB\xBF"
      "b"}},
    {"CutMark", "\xEF\xBB", {"\xEF\xBB"}},
    {"Utf16",
     std::string{"\xFF\xFEG\0", 4},
     {"error: t:1: the list is UTF-16 text (it begins with a byte order mark): save it as UTF-8"}},
    {"Utf16Big",
     std::string{"\xFE\xFF\0G", 4},
     {"error: t:1: the list is UTF-16 text (it begins with a byte order mark): save it as UTF-8"}},
    {"LongLine", std::string(500'000, 'x') + "\ny", {std::string(500'000, 'x'), "y"}},
    {"TooLongALine", "a\n" + std::string(2 * kMost, 'x'), {"a", "error: t:2: the line is too long: want at most 1 MB"}},
};

TEST(LineReader, SplitsALineAtATimeHoweverItComes) {
  for (const LinesCase& row : kLinesCases) {
    for (const std::size_t size : {std::size_t{1}, std::size_t{2}, std::size_t{7}, row.text.size() + 1}) {
      if (size < 100 && row.text.size() > 10'000) continue;
      SCOPED_TRACE(::testing::Message() << row.name << " in pieces of " << size);
      EXPECT_EQ(lines_of(cut_into(row.text, size)), row.want);
    }
  }
}

TEST(LineReader, ReadsOnlyWhenItHoldsNoWholeLine) {
  Pipe pipe{{"a\nb\nc", "\n", "d\n"}};
  LineReader reader{pipe.reader(), "t", kMost};
  EXPECT_EQ(*reader.next().value(), "a");
  EXPECT_EQ(*reader.next().value(), "b");
  EXPECT_EQ(pipe.pieces_left(), 2U);
  EXPECT_EQ(*reader.next().value(), "c");
  EXPECT_EQ(pipe.pieces_left(), 1U);
  EXPECT_EQ(*reader.next().value(), "d");
  EXPECT_FALSE(pipe.ended());
}

TEST(LineReader, GivesALineBack) {
  Pipe pipe{{"a\nb\n"}};
  LineReader reader{pipe.reader(), "t", kMost};
  EXPECT_EQ(*reader.next().value(), "a");
  reader.unread();
  EXPECT_EQ(*reader.next().value(), "a");
  EXPECT_EQ(reader.error("x").text(), "t:1: x");
  EXPECT_EQ(*reader.next().value(), "b");
  EXPECT_EQ(reader.error("x").text(), "t:2: x");
}

TEST(LineReader, PassesOnAFailureToRead) {
  LineReader reader{[](std::span<char>) -> Expected<std::size_t> { return Error{"read t: is a directory"}; }, "t",
                    kMost};
  const auto line = reader.next();
  ASSERT_FALSE(line);
  EXPECT_EQ(line.error().text(), "read t: is a directory");
}

}  // namespace
}  // namespace pepe
