#pragma once

#include <cstdint>

namespace pepe {

/// While it lives, the `first`th allocation from now (0: the next) and the `count - 1` after it find no memory, on
/// whatever thread they are. One at a time.
class FailingNew {
 public:
  FailingNew(std::uint64_t first, std::uint64_t count) noexcept;
  FailingNew(const FailingNew&) = delete;
  ~FailingNew();
  /// Whether it came to that.
  bool happened() const noexcept;
};

}  // namespace pepe
