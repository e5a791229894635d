#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "fuzz/input.h"
#include "pepe/base/check.h"
#include "pepe/report/reporter.h"

namespace {

using Bounds = std::vector<pepe::Nanos>;

std::string print(const Bounds& bounds) {
  std::string out;
  for (const pepe::Nanos bound : bounds) out += (out.empty() ? "[" : ", ") + pepe::format_duration(bound);
  return out + "]";
}

// Every latency is counted once, in the first bucket that it fits in, or else the last.
void check_counts(const Bounds& bounds, pepe::Nanos odd_one) {
  pepe::Metrics metrics{bounds};
  std::vector<std::uint64_t> expected(bounds.size());
  const auto add = [&](pepe::Nanos latency) {
    pepe::Result result;
    result.latency = latency;
    metrics.add(result);
    std::size_t i = 0;
    while (i + 1 < bounds.size() && !(bounds[i] <= latency && latency < bounds[i + 1])) ++i;
    ++expected[i];
  };
  add(odd_one);
  for (std::size_t i = 0; i < std::min<std::size_t>(bounds.size(), 8); ++i) {
    add(bounds[i]);
    if (bounds[i] > pepe::Nanos::min()) add(bounds[i] - pepe::Nanos{1});
  }
  PEPE_CHECK(metrics.bucket_counts() == expected);
}

}  // namespace

/// A list that parses prints to one that parses as the same, means the same behind "hist", and its buckets count every
/// latency once.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pepe::fuzz::Input input{data, size};
  const std::string text{input.rest()};
  const auto bounds = pepe::parse_buckets(text);
  const auto plan = pepe::plan_report("hist" + text, "");
  PEPE_CHECK(plan.has_value() == bounds.has_value());
  if (!bounds) return 0;
  PEPE_CHECK(!bounds->empty() && plan->bounds == *bounds);
  const auto again = pepe::parse_buckets(print(*bounds));
  PEPE_CHECK(again && *again == *bounds);
  check_counts(*bounds, pepe::Nanos{input.number<std::int64_t>()});
  return 0;
}
