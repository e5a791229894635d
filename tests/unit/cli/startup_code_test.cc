#include "cli/startup_code.h"

#include <gtest/gtest.h>

#include <fstream>

namespace pepe {
namespace {

// Pages of files that this process has in memory: the third number there.
long resident_file_pages() {
  std::ifstream statm{"/proc/self/statm"};
  long size = 0;
  long resident = 0;
  long of_files = -1;
  statm >> size >> resident >> of_files;
  return of_files;
}

TEST(StartupCode, LeavesMemoryAndIsThereAgainWhenItIsNeeded) {
  const long before = resident_file_pages();
  if (before < 0) GTEST_SKIP() << "there is no /proc/self/statm";
  give_back_startup_code();
  const long after = resident_file_pages();
  EXPECT_LT(after, before);
  EXPECT_GT(after, 0);
}

}  // namespace
}  // namespace pepe
