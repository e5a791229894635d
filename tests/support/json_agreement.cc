#include "support/json_agreement.h"

#include <memory>
#include <sstream>
#include <utility>

#include "pepe/base/text.h"
#include "support/random_result.h"

namespace pepe {

std::string JsonReaders::disagree_on(std::string_view line) {
  // Memory that ends where the line does, so that a sanitizer finds a reader that goes on.
  const std::unique_ptr<char[]> bytes{new char[line.size()]};
  line.copy(bytes.get(), line.size());
  const std::string_view exact{bytes.get(), line.size()};
  Result result;
  if (!usual_.read(exact, result)) return {};
  ++taken_;
  const RandomResult fast = copy_of(result);
  const Expected<void> parsed = general_.parse(exact, result);
  if (!parsed) return quote(line) + " is refused: " + parsed.error().text();
  const RandomResult want = copy_of(result);
  if (fast == want) return {};
  std::ostringstream out;
  out << quote(line) << " is " << want << " but was read as " << fast;
  return std::move(out).str();
}

}  // namespace pepe
