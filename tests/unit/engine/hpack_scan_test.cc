#include "engine/hpack_scan.h"

#include <gtest/gtest.h>

#include <string>

namespace pepe {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

struct ScanCase {
  const char* name;
  std::string block;
  bool valid;
  bool stable{true};
  std::size_t last_value{kNone};
};

const ScanCase kScanCases[] = {
    {"Empty", "", true},
    {"Indexed", "\x88\xbe", true},
    {"IndexOfTwoBytes", "\xff\x05", true},
    {"LiteralThatIsKept", std::string{"\x41\x01h", 3}, true, false, 1},
    {"LiteralThatIsNotKept", std::string{"\x04\x02/a", 4}, true, true, 1},
    {"LiteralNeverKept",
     std::string{"\x1f\x2f\x01"
                 "7",
                 4},
     true, true, 2},
    {"LiteralWithItsName",
     std::string{"\0\x01x\x01"
                 "7",
                 5},
     true, true, 3},
    {"IndexedBehindALiteral", std::string{"\x04\x02/a\x88", 5}, true, true, kNone},
    {"SizeOfTheTable", "\x20\x88", true, false},
    {"NumberCutShort", "\xff\x85", false},
    {"NumberWithoutEnd", std::string(12, '\xff'), false},
    {"NameCutShort", std::string{"\0\x05x", 3}, false},
    {"ValueCutShort", std::string{"\x04\x02/", 3}, false},
    {"ValueThatIsNotThere", "\x04", false},
    {"NameThatIsNotThere", std::string{"\0", 1}, false},
};

TEST(HpackScan, SeesWhetherABlockLeavesTheTableAsItIs) {
  for (const ScanCase& row : kScanCases) {
    SCOPED_TRACE(row.name);
    const auto scan = scan_hpack(row.block);
    ASSERT_EQ(scan.has_value(), row.valid);
    if (!scan) continue;
    EXPECT_EQ(scan->stable, row.stable);
    EXPECT_EQ(scan->last_value, row.last_value);
  }
}

}  // namespace
}  // namespace pepe
