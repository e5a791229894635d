#pragma once

namespace pepe {

/// What the process ends with.
enum ExitStatus : int {
  kExitOk = 0,
  kExitFailure = 1,  ///< Anything but the flags: a file, the targets, a full disk.
  kExitUsage = 2,    ///< A fault in the flags.
  kExitBroken = 4,   ///< A threshold of `report -fail-if` is broken.
};

}  // namespace pepe
