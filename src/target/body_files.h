#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "pepe/base/expected.h"
#include "pepe/target/targeter.h"

namespace pepe {

/// The body files of a list. Targets that name the same file share its content, for as long as one of them is alive.
class BodyFiles {
 public:
  explicit BodyFiles(ReadFile read) : read_{std::move(read)} {}

  Expected<std::shared_ptr<const std::string>> get(std::string_view path) {
    std::string key{path};
    if (const auto known = bodies_.find(key); known != bodies_.end()) {
      if (auto body = known->second.lock()) return body;
    }
    auto content = read_(key);
    if (!content) return std::move(content).error();
    auto body = std::make_shared<const std::string>(*std::move(content));
    if (bodies_.size() >= forget_at_) forget_unused();
    bodies_.insert_or_assign(std::move(key), body);
    return body;
  }

 private:
  /// A lazy list may name any number of files: what its targets no longer hold goes, at doubling intervals.
  void forget_unused() {
    std::erase_if(bodies_, [](const auto& entry) { return entry.second.expired(); });
    forget_at_ = 2 * bodies_.size() + kFewest;
  }

  static constexpr std::size_t kFewest = 64;

  ReadFile read_;
  std::unordered_map<std::string, std::weak_ptr<const std::string>> bodies_;
  std::size_t forget_at_{kFewest};
};

}  // namespace pepe
