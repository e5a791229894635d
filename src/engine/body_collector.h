#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/body_budget.h"
#include "pepe/result/chunk_writer.h"

namespace pepe {

/// The kept part of a response body as it arrives: compared with the body that the target answered last time, and
/// copied only from the first byte that differs.
class BodyCollector {
 public:
  /// `budget` outlives the collector; nullptr: none.
  explicit BodyCollector(BodyBudget* budget = nullptr) noexcept : budget_{budget} {}
  BodyCollector(const BodyCollector&) = delete;
  ~BodyCollector() { drop_copy(); }

  /// `limit`: bytes to keep at most.
  void start(BodyRef candidate, std::uint64_t limit);
  /// False: there is no memory for them, shortage() says why; nothing is kept any more.
  bool append(std::string_view bytes);
  std::string shortage() const;

  std::uint64_t kept() const noexcept { return kept_; }
  /// The body is the candidate, byte for byte.
  bool matches() const noexcept { return matching_ && candidate_ && kept_ == candidate_.bytes().size(); }
  /// The body is `stored`, byte for byte, as far as that is known without comparing again.
  bool equals(const BodyRef& stored) const noexcept { return stored ? matches() && candidate_ == stored : kept_ == 0; }
  const BodyRef& candidate() const noexcept { return candidate_; }
  std::string_view bytes() const noexcept;
  /// Forgets what was kept. Gives the memory of an unusually large body back, and lets go of the candidate.
  void reset();
  /// As reset(), and gives all memory back.
  void drop();

 private:
  enum class Shortage { kNone, kBudget, kMemory };

  bool make_room(std::size_t size);
  void drop_copy() noexcept;

  BodyBudget* budget_;
  BodyRef candidate_;
  bool matching_{false};
  Shortage shortage_{Shortage::kNone};
  std::uint64_t limit_{0};
  std::uint64_t kept_{0};
  std::string copy_;
  std::uint64_t charged_{0};  // of the budget, for copy_
};

}  // namespace pepe
