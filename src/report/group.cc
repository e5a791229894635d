#include <fmt/format.h>

#include <iterator>

#include "pepe/base/json.h"
#include "report/columns.h"
#include "report/reporters.h"

namespace pepe {

void write_titled_group(const ReporterEntry& reporter, std::string_view key, const ResultGroup& group,
                        std::string& out) {
  if (!out.empty()) out += '\n';
  fmt::format_to(std::back_inserter(out), "{}: ", key);
  append_terminal_safe(group.name, out);
  out += '\n';
  reporter.write(group.metrics, out);
}

void write_json_group(const ReporterEntry& reporter, std::string_view /*key*/, const ResultGroup& group,
                      std::string& out) {
  out += R"({"group":)";
  append_json_string(group.name, out);
  out += R"(,"report":)";
  reporter.write(group.metrics, out);
  out.pop_back();  // its line goes on
  out += "}\n";
}

}  // namespace pepe
