#include <cstdint>

#include "fuzz/input.h"
#include "fuzz/schedule.h"
#include "pepe/base/check.h"
#include "pepe/pacer/load.h"

/// The first eight bytes are the number of a hit, the rest is the value of -steps. Steps that parse print to ones that
/// parse as the same; together they last no longer than a duration can. Where a schedule can be made of them, it never
/// goes backwards, counts the hits before an instant as it places them, and sends none in a pause at its start.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pepe::fuzz::Input input{data, size};
  const auto n = input.number<std::uint64_t>();
  pepe::LoadFlags flags;
  auto steps = pepe::parse_steps(input.rest());
  if (!steps) return 0;
  const auto again = pepe::parse_steps(pepe::format_steps(*steps));
  PEPE_CHECK(again && *again == *steps);
  flags.steps = *std::move(steps);

  pepe::Nanos sum{0};
  for (const pepe::Step& step : flags.steps) {
    PEPE_CHECK(step.lasts.count() > 0 && step.rate.hits >= 0 && step.lasts <= pepe::Nanos::max() - sum);
    sum += step.lasts;
  }
  const auto load = pepe::find_pacer("step")->make(flags);
  if (!load) return 0;
  PEPE_CHECK(load->duration == sum && load->pacer->hits_before(sum) > 0);
  pepe::fuzz::check_schedule(*load->pacer, n);
  pepe::fuzz::check_schedule(*load->pacer, n % 1000);
  pepe::fuzz::check_schedule(*load->pacer, n % load->pacer->hits_before(sum));
  if (flags.steps.front().rate.hits == 0) PEPE_CHECK(load->pacer->hits_before(flags.steps.front().lasts) == 0);
  return 0;
}
