#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/attack_flags.h"
#include "cli/input_file.h"
#include "pepe/base/expected.h"
#include "pepe/target/targeter.h"

namespace pepe {

/// The targets of an attack, with the files that they are read from.
struct AttackTargets {
  std::unique_ptr<Targeter> targeter;
  std::vector<FileId> files;  ///< That must not be written to.
  /// Ends the reading of a lazy list, from any thread, also while it waits for bytes.
  std::function<void()> cancel;
};

/// Opens -targets (or takes `urls`), then -body, picks the format, and, unless the run is lazy, reads all
/// targets. Error: the first failure, such as `error opening FILE: open FILE: no such file or directory`.
Expected<AttackTargets> open_attack_targets(const AttackFlags& flags, const std::vector<std::string>& urls);

/// A file of an attack that can't be opened, in vegeta's words: `error opening NAME: ` before what happened.
Error opening_error(std::string_view name, const Error& error);

}  // namespace pepe
