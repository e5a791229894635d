#include <fmt/format.h>

#include <iterator>

#include "pepe/base/json.h"
#include "pepe/base/text.h"
#include "report/reporters.h"

namespace pepe {

void write_titled_group(const ReporterEntry& reporter, std::string_view key, const ResultGroup& group,
                        const ReportStyle& style, std::string& out) {
  if (!out.empty()) out += '\n';
  fmt::format_to(std::back_inserter(out), "{}: ", key);
  std::string name;
  append_terminal_safe(group.name, name);
  // A name with a line break would look like the title of another group.
  for (const char c : name) c == '\n' ? out.append("\\n") : out.append(1, c);
  out += '\n';
  reporter.write(group.metrics, style, out);
}

void write_json_group(const ReporterEntry& reporter, std::string_view /*key*/, const ResultGroup& group,
                      const ReportStyle& style, std::string& out) {
  out += R"({"group":)";
  append_json_string(group.name, out);
  out += R"(,"report":)";
  reporter.write(group.metrics, style, out);
  out.pop_back();  // its line goes on
  out += "}\n";
}

}  // namespace pepe
