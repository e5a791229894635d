#include "result/crc32c.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

namespace pepe {
namespace {

struct CrcCase {
  const char* name;
  std::string bytes;
  std::uint32_t crc;
};

// RFC 3720, B.4, and the check value of the catalogues.
const CrcCase kCrcCases[] = {
    {"Nothing", "", 0},
    {"CheckValue", "123456789", 0xE3069283},
    {"Zeros", std::string(32, '\0'), 0x8A9136AA},
    {"Ones", std::string(32, '\xFF'), 0x62A8AB43},
};

class Crc32c : public ::testing::TestWithParam<CrcCase> {};

TEST_P(Crc32c, IsThePublishedValue) {
  EXPECT_EQ(crc32c(GetParam().bytes), GetParam().crc);
  EXPECT_EQ(crc32c_portable(GetParam().bytes), GetParam().crc);
}

INSTANTIATE_TEST_SUITE_P(Vectors, Crc32c, ::testing::ValuesIn(kCrcCases),
                         [](const auto& row) { return std::string{row.param.name}; });

TEST(Crc32cPortable, AgreesAtEveryLengthAndAlignment) {
  std::string bytes;
  for (int i = 0; i < 100; ++i) bytes += static_cast<char>(i * 37);
  for (std::size_t from = 0; from < 9; ++from) {
    for (std::size_t size = 0; from + size <= bytes.size(); ++size) {
      const std::string_view part = std::string_view{bytes}.substr(from, size);
      ASSERT_EQ(crc32c_portable(part), crc32c(part)) << from << " " << size;
    }
  }
}

}  // namespace
}  // namespace pepe
