#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "pepe/target/targeter.h"

namespace pepe {

/// Targets that are there already.
class ListTargeter final : public Targeter {
 public:
  explicit ListTargeter(std::vector<Target> targets) : targets_{std::move(targets)} {}
  Expected<std::optional<Target>> next() override {
    if (at_ == targets_.size()) return std::optional<Target>{};
    return std::optional<Target>{targets_[at_++]};
  }

 private:
  std::vector<Target> targets_;
  std::size_t at_{0};
};

}  // namespace pepe
