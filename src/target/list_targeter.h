#pragma once

#include <optional>

#include "pepe/target/targeter.h"

namespace pepe {

/// A list that is read from front to back: what ended it, its end or an error, ends it for good.
class ListTargeter : public Targeter {
 public:
  Expected<std::optional<Target>> next() final {
    if (ended_) return std::optional<Target>{};
    auto target = read_target();
    ended_ = !target || !*target;
    return target;
  }

 private:
  /// The next target; nullopt at the end of the list.
  virtual Expected<std::optional<Target>> read_target() = 0;

  bool ended_{false};
};

}  // namespace pepe
