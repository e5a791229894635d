#include <chrono>

#include "schedule.h"

namespace pepe {
namespace {

using namespace std::chrono_literals;

TEST(Pacers, AreFoundByTheirNames) {
  for (const PacerEntry& entry : pacers()) EXPECT_EQ(find_pacer(entry.name), &entry);
  EXPECT_EQ(find_pacer("poisson"), nullptr);
  EXPECT_EQ(find_pacer(""), nullptr);
  EXPECT_EQ(pacer_names(), "constant, linear, sine or step");
  EXPECT_EQ(pacer_names_reading("rate"), "constant, linear or sine");
  EXPECT_EQ(pacer_names_reading("steps"), "step");
  EXPECT_EQ(pacer_names_reading("duration"), "");
}

TEST(Pacers, LeaveAConstantRateAsItIs) {
  const Load load = make_load("constant", {.rate = {3, 7s}, .duration = 2s});
  EXPECT_EQ(load.rate, (Rate{3, 7s}));
  EXPECT_EQ(load.duration, 2s);
  EXPECT_EQ(load.shape, "");
  EXPECT_TRUE(make_load("constant", {.rate = {0, 1s}}).pacer->unpaced());
}

}  // namespace
}  // namespace pepe
