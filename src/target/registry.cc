#include <array>
#include <utility>

#include <fmt/format.h>

#include "pepe/target/targeter.h"
#include "target/formats.h"

namespace pepe {
namespace {

constexpr std::array kFormats = {
    TargetFormat{"http", make_http_targeter},
    TargetFormat{"json", make_json_targeter},
};

/// What `target` takes, the request that is made of it included; a body that others share counts with the first.
std::uint64_t memory_of(const Target& target) {
  constexpr std::uint64_t kFixed = 700;
  constexpr std::uint64_t kPerField = 100;
  constexpr std::uint64_t kCopies = 3;
  std::uint64_t text = target.method.size() + target.url.size();
  for (const HeaderField& field : target.headers) text += kPerField + field.name.size() + field.value.size();
  return kFixed + kCopies * text + (target.body && target.body.use_count() == 1 ? target.body->size() : 0);
}

}  // namespace

std::span<const TargetFormat> target_formats() { return kFormats; }

Expected<std::vector<Target>> read_all_targets(Targeter& targeter, std::uint64_t most_bytes) {
  std::vector<Target> targets;
  std::uint64_t bytes = 0;
  while (true) {
    auto target = targeter.next();
    if (!target) return std::move(target).error();
    if (!*target) break;
    bytes += memory_of(**target);
    if (bytes > most_bytes) {
      return Error{
          fmt::format("the targets take over {} MB of memory, {} of them so far: -lazy reads them as they are needed",
                      most_bytes >> 20, targets.size())};
    }
    targets.push_back(**std::move(target));
  }
  if (targets.empty()) return Error{kNoTargets};
  return targets;
}

}  // namespace pepe
