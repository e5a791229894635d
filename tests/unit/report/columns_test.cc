#include "report/columns.h"

#include <string>

#include <gtest/gtest.h>

namespace pepe {
namespace {

struct TextCase {
  const char* name;
  std::string text;
  std::string want;
};

const TextCase kColumnCases[] = {
    {"Empty", "", ""},
    {"NoColumns", "a\nb\n", "a\nb\n"},
    {"ColumnsAreAsWideAsTheirLongestCellAndTwo", "a\tx\nlonger\ty\n", "a       x\nlonger  y\n"},
    {"AnEmptyCellIsTwoWide", "\tx\n", "  x\n"},
    {"TheLastCellHasNoColumn", "a\tvery long\nb\tc\td\n", "a  very long\nb  c  d\n"},
    {"ALineWithoutTheColumnEndsIt", "a\tx\nplain\nlonger\ty\n", "a  x\nplain\nlonger  y\n"},
    {"AShorterLineEndsTheSecondColumn", "a\tb\tc\na\tb\na\tlonger\tc\n", "a  b  c\na  b\na  longer  c\n"},
    {"WidthsCountCharacters", "ü\tx\nab\ty\n", "ü   x\nab  y\n"},
    {"WidthsCountBytesThatAreNoUtf8", "\xff\tx\nab\ty\n", "\xff   x\nab  y\n"},
    {"ATabAtTheEndPads", "a\t\nlonger\t\n", "a       \nlonger  \n"},
};

TEST(Columns, AreLaidOutAsByGosTabwriter) {
  for (const TextCase& row : kColumnCases) {
    SCOPED_TRACE(row.name);
    std::string out;
    append_columns(row.text, out);
    EXPECT_EQ(out, row.want);
  }
}

}  // namespace
}  // namespace pepe
