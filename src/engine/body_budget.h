#pragma once

#include <atomic>
#include <cstdint>

namespace pepe {

/// Memory for the response bodies that are on their way, of all hits of a run together: as many connections as there
/// are can each be sent a large one. Thread-safe; asked when a body outgrows the memory that it has, not per byte.
class BodyBudget {
 public:
  /// `limit`: bytes that may be out at once.
  explicit BodyBudget(std::uint64_t limit) noexcept : limit_{limit} {}
  BodyBudget(const BodyBudget&) = delete;

  /// False, and nothing taken: it would be over the limit.
  bool take(std::uint64_t bytes) noexcept {
    if (taken_.fetch_add(bytes, std::memory_order_relaxed) + bytes <= limit_) return true;
    give_back(bytes);
    return false;
  }
  void give_back(std::uint64_t bytes) noexcept { taken_.fetch_sub(bytes, std::memory_order_relaxed); }

  std::uint64_t limit() const noexcept { return limit_; }
  std::uint64_t taken() const noexcept { return taken_.load(std::memory_order_relaxed); }

 private:
  const std::uint64_t limit_;
  alignas(64) std::atomic<std::uint64_t> taken_{0};
};

/// What the bodies of a run may take: a quarter of the memory that this process may use (the machine's, its control
/// group's, its address space), since a body that is recorded exists up to three times for a moment.
std::uint64_t body_memory_limit();

}  // namespace pepe
