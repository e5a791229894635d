#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "pepe/target/targeter.h"
#include "unit/target/target_list.h"

namespace pepe {
namespace {

TEST(TargetFormats, AreNamedInTheOrderOfTheHelp) {
  std::vector<std::string_view> names;
  for (const TargetFormat& format : target_formats()) names.push_back(format.name);
  EXPECT_EQ(names, (std::vector<std::string_view>{"http", "json"}));
}

TEST(TargetFormats, SayThatAnEmptyListHasNoTargets) {
  for (const TargetFormat& format : target_formats()) {
    SCOPED_TRACE(format.name);
    testing::Pipe pipe{{"\n \n\r\n"}};
    const auto targets = read_all_targets(*format.make({"t", {}, pipe.reader(), {}, {}}));
    ASSERT_FALSE(targets);
    EXPECT_EQ(targets.error().text(), "no targets to attack");
  }
}

TEST(TargetFormats, RefuseBinaryBytes) {
  for (const TargetFormat& format : target_formats()) {
    SCOPED_TRACE(format.name);
    testing::Pipe pipe{{std::string(100'000, '\0')}};
    EXPECT_FALSE(read_all_targets(*format.make({"t", {}, pipe.reader(), {}, {}})));
  }
}

}  // namespace
}  // namespace pepe
