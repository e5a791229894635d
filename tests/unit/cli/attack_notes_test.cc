#include "cli/attack_notes.h"

#include <gtest/gtest.h>

namespace pepe {
namespace {

using std::chrono::milliseconds;

AttackSummary summary_of(std::uint64_t sent) {
  AttackSummary summary;
  summary.facts.sent = sent;
  return summary;
}

TEST(AttackNotes, AreSilentAfterAHealthyRun) { EXPECT_TRUE(attack_notes(summary_of(100)).empty()); }

TEST(AttackNotes, PassOverASingleHiccup) {
  AttackSummary summary = summary_of(100);
  summary.facts.late = 2;
  summary.facts.worst_lag = milliseconds{30};
  EXPECT_TRUE(attack_notes(summary).empty());
}

TEST(AttackNotes, SayWhatWentWrong) {
  AttackSummary summary = summary_of(20);
  summary.failed = 1;
  summary.facts.missed = 15;
  summary.facts.late = 3;
  summary.facts.worst_lag = milliseconds{30};
  summary.facts.limited = true;
  summary.facts.limit = "97 % busy";
  EXPECT_EQ(attack_notes(summary),
            (std::vector<std::string>{
                "1 of 20 hits failed",
                "15 hits missed: due, but not sent, since -max-workers or -max-connections were busy",
                "3 hits sent over 10ms late, the worst 30ms",
                "the generator was the limit: 97 % busy",
            }));
}

TEST(AttackNotes, SayThatTheListOfTargetsWasTheReason) {
  AttackSummary summary = summary_of(0);
  summary.facts.missed = 1;
  summary.out_of_targets = true;
  EXPECT_EQ(attack_notes(summary),
            std::vector<std::string>{"1 hit missed: due, but not sent, since the list of targets came too slowly"});
}

TEST(AttackNotes, SayThatOneHitWasVeryLate) {
  AttackSummary summary = summary_of(1);
  summary.facts.late = 1;
  summary.facts.worst_lag = milliseconds{400};
  EXPECT_EQ(attack_notes(summary), std::vector<std::string>{"1 hit sent over 10ms late, the worst 400ms"});
}

}  // namespace
}  // namespace pepe
