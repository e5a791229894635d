#include "cli/version.h"

#include <fmt/format.h>
#include <openssl/opensslv.h>

namespace pepe {

std::string_view version() { return PEPE_VERSION; }

std::string version_text() {
#if defined(__clang__)
  constexpr std::string_view kCompiler = "clang " __clang_version__;
#else
  constexpr std::string_view kCompiler = "gcc " __VERSION__;
#endif
  return fmt::format("Version: {}\nCommit: {}\nRuntime: {}, {}\nDate: {}\n", version(), PEPE_COMMIT, kCompiler,
                     OPENSSL_VERSION_TEXT, PEPE_DATE);
}

}  // namespace pepe
