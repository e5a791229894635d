#pragma once

namespace pepe {

/// What the process ends with.
enum ExitStatus : int {
  kExitOk = 0,
  kExitFailure = 1,  ///< Anything but the flags: a file, the targets, a full disk.
  kExitUsage = 2,    ///< A fault in the flags.
};

}  // namespace pepe
