#include <array>
#include <utility>

#include "pepe/target/targeter.h"
#include "target/formats.h"

namespace pepe {
namespace {

constexpr std::array kFormats = {
    TargetFormat{"http", make_http_targeter},
    TargetFormat{"json", make_json_targeter},
};

}  // namespace

std::span<const TargetFormat> target_formats() { return kFormats; }

Expected<std::vector<Target>> read_all_targets(Targeter& targeter) {
  std::vector<Target> targets;
  while (true) {
    auto target = targeter.next();
    if (!target) return std::move(target).error();
    if (!*target) break;
    targets.push_back(**std::move(target));
  }
  if (targets.empty()) return Error{kNoTargets};
  return targets;
}

}  // namespace pepe
