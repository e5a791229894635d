#pragma once

#include <memory>

#include "pepe/target/targeter.h"

namespace pepe {

/// One request after another as text, see docs/target-formats.md.
std::unique_ptr<Targeter> make_http_targeter(TargeterOptions options);

/// One JSON object a line, see docs/target-formats.md.
std::unique_ptr<Targeter> make_json_targeter(TargeterOptions options);

}  // namespace pepe
