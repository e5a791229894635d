#include "report/columns.h"

#include <algorithm>
#include <vector>

#include "pepe/base/utf8.h"

namespace pepe {
namespace {

constexpr std::size_t kPadding = 2;

struct Line {
  std::vector<std::string_view> cells;  // all but the last end in a tab
  std::vector<std::size_t> widths;      // of those
};

std::size_t characters(std::string_view text) {
  std::size_t count = 0;
  while (!text.empty()) {
    text.remove_prefix(std::max<std::size_t>(1, decode_utf8(text).bytes));
    ++count;
  }
  return count;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t at = text.find(separator); at != std::string_view::npos; at = text.find(separator)) {
    parts.push_back(text.substr(0, at));
    text.remove_prefix(at + 1);
  }
  parts.push_back(text);
  return parts;
}

bool has_column(const Line& line, std::size_t column) { return line.cells.size() > column + 1; }

// Gives every run of lines that have `column` one width. False when no line has it.
bool set_widths(std::vector<Line>& lines, std::size_t column) {
  bool found = false;
  for (std::size_t first = 0; first < lines.size(); ++first) {
    std::size_t last = first;
    std::size_t width = 0;
    for (; last < lines.size() && has_column(lines[last], column); ++last) {
      width = std::max(width, characters(lines[last].cells[column]) + kPadding);
    }
    for (std::size_t i = first; i < last; ++i) lines[i].widths.push_back(width);
    found = found || last > first;
    first = last;
  }
  return found;
}

}  // namespace

void append_columns(std::string_view text, std::string& out) {
  std::vector<Line> lines;
  for (const std::string_view line : split(text, '\n')) lines.push_back({split(line, '\t'), {}});
  for (std::size_t column = 0; set_widths(lines, column);) ++column;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Line& line = lines[i];
    if (i > 0) out += '\n';
    for (std::size_t column = 0; column < line.widths.size(); ++column) {
      out += line.cells[column];
      out.append(line.widths[column] - characters(line.cells[column]), ' ');
    }
    out += line.cells.back();
  }
}

}  // namespace pepe
