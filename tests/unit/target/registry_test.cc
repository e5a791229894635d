#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pepe/target/targeter.h"
#include "target/formats.h"
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

TEST(ReadAllTargets, EndsWhereTheyTakeTooMuchMemory) {
  // A list without end.
  const ReadBytes read = [](std::span<char> buffer) -> Expected<std::size_t> {
    for (std::size_t i = 0; i < buffer.size(); ++i) buffer[i] = "GET http://h/\n"[i % 14];
    return buffer.size() / 14 * 14;
  };
  const auto targets = read_all_targets(*make_http_targeter({"t", {}, read, {}, {}}), std::uint64_t{2} << 20);
  ASSERT_FALSE(targets);
  EXPECT_THAT(targets.error().text(),
              ::testing::MatchesRegex("the targets take over 2 MB of memory, [0-9]+ of them so far: "
                                      "-lazy reads them as they are needed"));
}

TEST(ReadAllTargets, CountsABodyThatTheyShareOnce) {
  const auto body = std::make_shared<const std::string>(500'000, 'x');
  testing::Pipe pipe{{"PUT http://h/1\n\nPUT http://h/2\n\nPUT http://h/3\n"}};
  EXPECT_TRUE(read_all_targets(*make_http_targeter({"t", {{}, body}, pipe.reader(), {}, {}}), 1'000'000));
}

TEST(TargetFormats, RefuseBinaryBytes) {
  for (const TargetFormat& format : target_formats()) {
    SCOPED_TRACE(format.name);
    testing::Pipe pipe{{std::string(100'000, '\0')}};
    EXPECT_FALSE(read_all_targets(*format.make({"t", {}, pipe.reader(), {}, {}})));
  }
}

Expected<std::string> read_file(const std::filesystem::path& path) {
  std::ifstream stream{path, std::ios::binary};
  if (!stream) return Error{"open " + path.string() + ": no such file or directory"};
  return std::string{std::istreambuf_iterator<char>{stream}, {}};
}

TEST(SampleLists, ParseInTheFormatOfTheirFolder) {
  const std::filesystem::path root = PEPE_SOURCE_DIR;
  for (const TargetFormat& format : target_formats()) {
    std::size_t lists = 0;
    for (const auto& file : std::filesystem::directory_iterator{root / "targets" / format.name}) {
      // Of the HTTP samples, the lists are the text files; what else is there are their bodies.
      if (format.name == "http" && file.path().extension() != ".txt") continue;
      SCOPED_TRACE(file.path().string());
      ++lists;
      testing::Pipe pipe{{read_file(file.path()).value()}};
      std::vector<std::string> warnings;
      const auto targets =
          read_all_targets(*format.make({file.path().filename().string(),
                                         {},
                                         pipe.reader(),
                                         [&root](const std::string& path) { return read_file(root / path); },
                                         [&warnings](const std::string& text) { warnings.push_back(text); }}));
      EXPECT_TRUE(targets) << targets.error().text();
      EXPECT_EQ(warnings, std::vector<std::string>{});
    }
    EXPECT_GT(lists, 0U);
  }
}

}  // namespace
}  // namespace pepe
