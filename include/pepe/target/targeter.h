#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pepe/base/expected.h"
#include "pepe/target/target.h"

namespace pepe {

/// What every target of a list gets.
struct TargetDefaults {
  std::vector<HeaderField> headers;         ///< -header, in order.
  std::shared_ptr<const std::string> body;  ///< -body; for targets without one of their own.
};

/// Reads a file named by a target (`@PATH`), so that the parsers do no I/O. Error text: "open PATH: no such file or
/// directory".
using ReadFile = std::function<Expected<std::string>(const std::string& path)>;
/// Fills `buffer` with the next bytes of the list; 0 at its end. May block (a pipe).
using ReadBytes = std::function<Expected<std::size_t>(std::span<char> buffer)>;

/// Yields the targets of a list, one after another. Not thread-safe.
class Targeter {
 public:
  virtual ~Targeter() = default;
  /// The next target; nullopt at the end of the list. Reads no further than it must, so a list may grow while it is
  /// used. Error: `NAME:LINE: what was found and expected`; the list ends there.
  virtual Expected<std::optional<Target>> next() = 0;
};

struct TargeterOptions {
  std::string name{"stdin"};  ///< Of the list, for error texts.
  TargetDefaults defaults;
  ReadBytes read;
  ReadFile read_file;
  /// Told, as `NAME:LINE: text`, what was found odd but passed over, such as an unknown field. May be empty.
  std::function<void(const std::string& text)> warn{};
};

/// One row of the registry: a target format by its -format name.
struct TargetFormat {
  std::string_view name;
  std::unique_ptr<Targeter> (*make)(TargeterOptions options);
};

/// The formats that exist, in the order that help texts name them: http, json.
std::span<const TargetFormat> target_formats();

/// The fault of a list without targets.
inline constexpr const char* kNoTargets = "no targets to attack";

/// All targets of the list. Error: the first bad one, kNoTargets, or that they, with what an attack makes of them,
/// would take over `most_bytes` of memory.
Expected<std::vector<Target>> read_all_targets(Targeter& targeter,
                                               std::uint64_t most_bytes = std::numeric_limits<std::uint64_t>::max());

}  // namespace pepe
