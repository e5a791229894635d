#include "cli/attack_notes.h"

#include <fmt/format.h>

namespace pepe {
namespace {

constexpr std::uint64_t kManyLate = 3;
constexpr Nanos kVeryLate = std::chrono::milliseconds{100};

std::string hits(std::uint64_t count) { return fmt::format("{} {}", count, count == 1 ? "hit" : "hits"); }

}  // namespace

std::vector<std::string> attack_notes(const AttackSummary& summary) {
  const RunFacts& facts = summary.facts;
  std::vector<std::string> notes;
  if (summary.failed > 0) notes.push_back(fmt::format("{} of {} failed", summary.failed, hits(facts.sent)));
  if (facts.missed > 0) {
    notes.push_back(fmt::format(
        "{} missed: due, but not sent, since {}", hits(facts.missed),
        summary.out_of_targets ? "the list of targets came too slowly" : "-max-workers or -max-connections were busy"));
  }
  // A machine that hiccups once is no news; the report keeps count of it all the same.
  if (facts.late >= kManyLate || facts.worst_lag >= kVeryLate) {
    notes.push_back(fmt::format("{} sent over {} late, the worst {}", hits(facts.late), format_duration(kLateAfter),
                                format_duration(round_duration(facts.worst_lag))));
  }
  if (facts.limited) {
    notes.push_back(facts.limit.empty() ? "the generator was the limit"
                                        : "the generator was the limit: " + facts.limit);
  }
  return notes;
}

}  // namespace pepe
