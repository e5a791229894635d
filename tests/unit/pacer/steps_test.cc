#include <gtest/gtest.h>

#include "pepe/pacer/steps.h"

namespace pepe {
namespace {

struct StepsCase {
  const char* name;
  const char* text;
  const char* want;  ///< Printed again, or the error.
};

constexpr StepsCase kStepsCases[] = {
    {"One", "100:10s", "100/1s:10s"},
    {"Several", "100:10s,500/1s:1m,3/250ms:1h", "100/1s:10s,500/1s:1m0s,3/250ms:1h0m0s"},
    {"APause", "0:5s,100:1s", "0/1s:5s,100/1s:1s"},
    {"Blanks", " 100:10s, 200:1s ", "100/1s:10s,200/1s:1s"},
    {"Empty", "", "step 1, \"\": want RATE:DURATION, such as 500:1m"},
    {"AnEmptyStep", "100:1s,", "step 2, \"\": want RATE:DURATION, such as 500:1m"},
    {"NoDuration", "100:1s,500", "step 2, \"500\": want RATE:DURATION, such as 500:1m"},
    {"NoRate", ":1s",
     "step 1, \":1s\": \"\" is not a whole number of hits: want HITS[/DURATION], such as 500, 240/m or 1/2s"},
    {"NoUnit", "100:1", "step 1, \"100:1\": time: missing unit in duration \"1\""},
    {"NoTime", "100:0s", "step 1, \"100:0s\": want a duration above 0"},
    {"LessThanNoTime", "100:-1s", "step 1, \"100:-1s\": want a duration above 0"},
    {"ANegativeRate", "-5:1s", "step 1, \"-5:1s\": a rate can't be negative"},
    {"ARateWithoutABound", "infinity:1s",
     "step 1, \"infinity:1s\": \"infinity\" has no bound: only -pacer=constant can go as fast as -max-workers allow"},
    {"HitsInNoTime", "5/0s:1s",
     "step 1, \"5/0s:1s\": \"5/0s\" has no bound: only -pacer=constant can go as fast as -max-workers allow"},
    {"TooLongTogether", "1:2000000h,1:2000000h", "the steps last over 292 years"},
};

TEST(Steps, AreRatesWithDurations) {
  for (const StepsCase& row : kStepsCases) {
    SCOPED_TRACE(row.name);
    const auto steps = parse_steps(row.text);
    EXPECT_EQ(steps ? format_steps(*steps) : steps.error().text(), row.want);
  }
}

}  // namespace
}  // namespace pepe
