#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace pepe {
namespace {

namespace fs = std::filesystem;

using Arrows = std::map<std::string, std::set<std::string>>;

/// Which modules a module may include: docs/architecture.md. Data flows one way, includes point against it.
const Arrows kAllowed = {
    {"base", {}},
    {"target", {"base"}},
    {"pacer", {"base"}},
    {"result", {"base"}},
    {"engine", {"base", "target", "pacer", "result"}},
    {"metrics", {"base", "result"}},
    {"report", {"base", "metrics", "result"}},
    {"plot", {"base", "result"}},
    {"cli", {"base", "target", "pacer", "result", "engine", "metrics", "report", "plot"}},
};

/// One #include of one module's file by another's.
struct Include {
  std::string file;
  std::string from;
  std::string to;
  std::string header;
};

/// The module that an include names: "pepe/<module>/x.h" or, within src/, "<module>/x.h". nullopt: no module
/// of ours.
std::optional<std::string> module_of(const std::string& header) {
  static const std::regex kOurs{R"((?:pepe/)?(\w+)/[\w/]+\.h)"};
  std::smatch match;
  if (!std::regex_match(header, match, kOurs)) return std::nullopt;
  return kAllowed.contains(match[1].str()) ? std::optional{match[1].str()} : std::nullopt;
}

void read_includes(const fs::path& root, const std::string& module, std::vector<Include>& includes) {
  static const std::regex kInclude{R"(^\s*#\s*include\s+["<]([^">]+)[">].*)"};
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator{root / module}) {
    const std::string extension = entry.path().extension().string();
    if (extension != ".h" && extension != ".cc") continue;
    std::ifstream file{entry.path()};
    std::string line;
    std::smatch match;
    while (std::getline(file, line)) {
      if (!std::regex_match(line, match, kInclude)) continue;
      const std::string header = match[1].str();
      if (const auto to = module_of(header)) includes.push_back({entry.path().string(), module, *to, header});
    }
  }
}

std::vector<Include> all_includes() {
  std::vector<Include> includes;
  for (const std::string root : {"src", "include/pepe"}) {
    for (const auto& [module, unused] : kAllowed) {
      const fs::path directory = fs::path{PEPE_SOURCE_DIR} / root;
      if (fs::exists(directory / module)) read_includes(directory, module, includes);
    }
  }
  return includes;
}

TEST(Layering, EveryModuleIsOnTheMap) {
  for (const std::string root : {"src", "include/pepe"}) {
    for (const fs::directory_entry& entry : fs::directory_iterator{fs::path{PEPE_SOURCE_DIR} / root}) {
      if (!entry.is_directory()) continue;
      EXPECT_TRUE(kAllowed.contains(entry.path().filename().string())) << entry.path() << " has no row in kAllowed";
    }
  }
}

TEST(Layering, IncludesPointOnlyAlongTheArrows) {
  const std::vector<Include> includes = all_includes();
  ASSERT_GT(includes.size(), 50U) << "the sources were not found";
  for (const Include& include : includes) {
    if (include.from == include.to) continue;
    EXPECT_TRUE(kAllowed.at(include.from).contains(include.to))
        << include.file << " includes " << include.header << ": " << include.from << " may not know " << include.to;
  }
}

TEST(Layering, OtherModulesAreEnteredByTheirPublicHeaders) {
  for (const Include& include : all_includes()) {
    if (include.from == include.to) continue;
    EXPECT_TRUE(include.header.starts_with("pepe/"))
        << include.file << " includes " << include.header << ", which is private to " << include.to;
  }
}

TEST(Layering, PublicHeadersIncludeNoPrivateOnes) {
  for (const Include& include : all_includes()) {
    if (include.file.find("/include/pepe/") == std::string::npos) continue;
    EXPECT_TRUE(include.header.starts_with("pepe/")) << include.file << " includes " << include.header;
  }
}

TEST(Layering, AsioHasOneDoor) {
  for (const auto& [module, unused] : kAllowed) {
    const fs::path directory = fs::path{PEPE_SOURCE_DIR} / "src" / module;
    if (!fs::exists(directory)) continue;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator{directory}) {
      if (!entry.is_regular_file() || entry.path().filename() == "asio.h") continue;
      std::ifstream file{entry.path()};
      const std::string text{std::istreambuf_iterator<char>{file}, {}};
      EXPECT_EQ(text.find("<boost/asio"), std::string::npos) << entry.path() << ": include engine/asio.h instead";
    }
  }
}

}  // namespace
}  // namespace pepe
