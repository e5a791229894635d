#include "pepe/base/error.h"

#include <cerrno>

#include <gtest/gtest.h>

namespace pepe {
namespace {

TEST(Error, NamesThePlaceInFront) { EXPECT_EQ(Error{"bad header: x"}.at("t.txt", 7).text(), "t.txt:7: bad header: x"); }

TEST(Error, UsesTheSystemsWordsInLowerCase) {
  EXPECT_EQ(system_error("open x", ENOENT).text(), "open x: no such file or directory");
  EXPECT_EQ(errno_text(EACCES), "permission denied");
}

}  // namespace
}  // namespace pepe
