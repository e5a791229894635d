#include "pepe/pacer/steps.h"

#include <fmt/format.h>

#include "pepe/base/text.h"
#include "pepe/pacer/load.h"

namespace pepe {
namespace {

Expected<Step> parse_step(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return Error{"want RATE:DURATION, such as 500:1m"};
  const auto rate = parse_finite_rate(text.substr(0, colon));
  if (!rate) return rate.error();
  const auto lasts = parse_duration(text.substr(colon + 1));
  if (!lasts) return lasts.error();
  if (*lasts <= Nanos{0}) return Error{"want a duration above 0"};
  return Step{*rate, *lasts};
}

}  // namespace

Expected<std::vector<Step>> parse_steps(std::string_view text) {
  std::vector<Step> steps;
  Nanos left = Nanos::max();
  for (bool more = true; more;) {
    const std::size_t comma = text.find(',');
    const std::string_view part = trim(text.substr(0, comma));
    const auto step = parse_step(part);
    if (!step) return Error{fmt::format("step {}, {}: {}", steps.size() + 1, quote(part), step.error().text())};
    if (step->lasts > left) return Error{"the steps last over 292 years"};
    left -= step->lasts;
    steps.push_back(*step);
    more = comma != std::string_view::npos;
    if (more) text.remove_prefix(comma + 1);
  }
  return steps;
}

std::string format_steps(std::span<const Step> steps) {
  std::string text;
  for (const Step& step : steps)
    text += fmt::format("{}{}:{}", text.empty() ? "" : ",", format_rate(step.rate), format_duration(step.lasts));
  return text;
}

}  // namespace pepe
