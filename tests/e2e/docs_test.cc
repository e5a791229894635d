// The commands that the pages of docs/ show, given to the binary: each must be one that it understands.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

#include "e2e/pepe_binary.h"
#include "support/temp_dir.h"

namespace pepe {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

std::vector<std::string> lines_of(const std::filesystem::path& page) {
  std::ifstream file{page};
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

bool is_command(std::string_view word) {
  return word == "attack" || word == "report" || word == "plot" || word == "encode";
}

/// The words of a shell's command up to the end of the first that is followed by `|`, `>`, `<`, `||` or `#`.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::optional<std::string> word;
  char quote = 0;
  for (const char c : text) {
    if (quote == 0 && (c == '|' || c == '>' || c == '<' || (c == '#' && !word))) break;
    if (quote == 0 && c == ' ') {
      if (word) words.push_back(*std::exchange(word, std::nullopt));
    } else if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
      word = word.value_or("");
    } else {
      word = word.value_or("") + c;
    }
  }
  if (word) words.push_back(*word);
  return words;
}

/// Runs `pepe ARGS` in an empty folder, where every file that it names is missing. A command that is understood
/// ends with 1 over the file that it would read first, before it sends or writes anything.
Ended run_without_files(std::vector<std::string> args) {
  const TempDir dir;
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (args[i] == "attack") {
      args.insert(args.begin() + static_cast<std::ptrdiff_t>(i) + 1, "-targets=nosuch");
      break;
    }
  }
  Launch launch;
  launch.args = std::move(args);
  launch.directory = dir.path(".");
  return Process{kPepe, launch}.wait();
}

void expect_understood(const Ended& ended) {
  EXPECT_EQ(ended.status, 1) << ended.err;
  EXPECT_THAT(ended.err, AnyOf(HasSubstr("no such file"), HasSubstr("can't detect encoding of \"stdin\"")));
}

/// The cells of a row of a table: "| a | b |". A `\|` is part of a cell.
std::vector<std::string> cells_of(const std::string& row) {
  std::vector<std::string> cells{1};
  for (std::size_t i = 1; i < row.size(); ++i) {
    if (row[i] == '\\' && i + 1 < row.size() && row[i + 1] == '|') {
      cells.back() += row[++i];
    } else if (row[i] == '|') {
      cells.emplace_back();
    } else {
      cells.back() += row[i];
    }
  }
  cells.pop_back();
  return cells;
}

/// What stands between the first two backticks.
std::string code_in(const std::string& cell) {
  const std::size_t from = cell.find('`');
  const std::size_t to = cell.find('`', from + 1);
  return to == std::string::npos ? "" : cell.substr(from + 1, to - from - 1);
}

TEST(Docs, GiveAnExampleOfEveryFlagThatIsUnderstood) {
  std::string command;
  std::size_t flags = 0;
  for (const std::string& line : lines_of(PEPE_SOURCE_DIR "/docs/cli.md")) {
    if (line.starts_with("## ")) command = line.substr(3);
    if (!line.starts_with("| `-")) continue;
    SCOPED_TRACE(line);
    ++flags;
    const std::vector<std::string> cells = cells_of(line);
    ASSERT_EQ(cells.size(), 3U);
    const std::vector<std::string> example = words_of(code_in(cells[2]));
    ASSERT_FALSE(example.empty());
    const std::string flag = code_in(cells[0]).substr(0, code_in(cells[0]).find(' '));
    EXPECT_EQ(example[0].substr(0, example[0].find('=')), flag);
    std::vector<std::string> args{example};
    const bool global = command == "Global flags";
    args.insert(global ? args.end() : args.begin(), global ? "report" : command);
    if (!global && command != "attack") args.push_back("nosuch");
    if (flag == "-version") continue;
    expect_understood(run_without_files(args));
  }
  EXPECT_GT(flags, 40U);
}

TEST(Docs, ShowCommandsThatAreUnderstood) {
  std::vector<std::filesystem::path> pages{PEPE_SOURCE_DIR "/README.md"};
  for (const auto& entry : std::filesystem::directory_iterator{PEPE_SOURCE_DIR "/docs"}) pages.push_back(entry.path());
  std::size_t commands = 0;
  for (const std::filesystem::path& page : pages) {
    for (const std::string& line : lines_of(page)) {
      if (!line.starts_with("    ") && !line.starts_with("| ")) continue;
      for (std::size_t at = line.find("pepe "); at != std::string::npos; at = line.find("pepe ", at + 5)) {
        if (at == 0 || (line[at - 1] != ' ' && line[at - 1] != '`')) continue;
        std::string text = line.substr(at + 5);
        if (line.starts_with("| ")) text = text.substr(0, text.find('`'));
        const std::vector<std::string> args = words_of(text);
        if (args.empty() || !is_command(args[0])) continue;
        if (text.find("[flags]") != std::string::npos || text.find(" -h") != std::string::npos) continue;
        SCOPED_TRACE(page.filename().string() + ": " + line);
        ++commands;
        expect_understood(run_without_files(args));
      }
    }
  }
  EXPECT_GT(commands, 30U);
}

}  // namespace
}  // namespace pepe
