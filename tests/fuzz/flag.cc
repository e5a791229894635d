#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cli/flag_values.h"
#include "cli/go_flags.h"
#include "cli/thresholds.h"
#include "fuzz/input.h"
#include "pepe/base/check.h"

namespace {

void check_numbers(std::string_view text) {
  if (const auto number = pepe::parse_int(text)) PEPE_CHECK(*pepe::parse_int(std::to_string(*number)) == *number);
  if (const auto number = pepe::parse_uint(text)) {
    PEPE_CHECK(*pepe::parse_uint(std::to_string(*number)) == *number);
    PEPE_CHECK(*pepe::parse_uint(fmt::format("{:#x}", *number)) == *number);
    PEPE_CHECK(*pepe::parse_uint(fmt::format("{:#o}", *number)) == *number);
  }
  if (const auto on = pepe::parse_bool(text)) PEPE_CHECK(*pepe::parse_bool(*on ? "true" : "false") == *on);
  if (const auto threads = pepe::parse_threads(text)) PEPE_CHECK(*threads == 0 || *threads <= 100'000);
}

// Entries of one source come together; nothing that was given is lost.
void check_connect_to(std::string_view text) {
  std::vector<pepe::ConnectTo> entries;
  std::size_t given = 0;
  for (const std::string& item : pepe::split_list(text)) given += pepe::add_connect_to(item, entries) ? 1U : 0U;
  std::size_t kept = 0;
  for (const pepe::ConnectTo& entry : entries) {
    kept += entry.to.size();
    PEPE_CHECK(entry.from.find(':') != std::string::npos);
    const auto same = [&entry](const pepe::ConnectTo& other) { return other.from == entry.from; };
    PEPE_CHECK(std::count_if(entries.begin(), entries.end(), same) == 1);
  }
  PEPE_CHECK(kept == given);
}

void check_resolvers(std::string_view text) {
  const auto servers = pepe::parse_resolvers(text);
  if (!servers) return;
  PEPE_CHECK(servers->size() == pepe::split_list(text).size());
  for (const std::string& server : *servers) {
    const auto again = pepe::parse_resolvers(server);
    PEPE_CHECK(again && again->size() == 1 && again->front() == server);
  }
}

void check_threshold(std::string_view text) {
  const auto threshold = pepe::Threshold::parse(text);
  if (!threshold) return;
  pepe::Metrics metrics;
  PEPE_CHECK(threshold->broken_by(metrics).has_value());
  pepe::Result result;
  result.code = 200;
  result.latency = std::chrono::milliseconds{3};
  metrics.add(result);
  const auto broken = threshold->broken_by(metrics);
  PEPE_CHECK(!broken || broken->starts_with(text));
}

// The same flags say the same with the value behind "=".
void check_arguments(std::string_view text) {
  std::vector<std::string> arguments;
  for (; !text.empty(); text.remove_prefix(std::min(arguments.back().size() + 1, text.size())))
    arguments.emplace_back(text.substr(0, text.find('\n')));
  const auto kind_of = [](std::string_view name) {
    if (name.starts_with('b')) return pepe::FlagKind::kBoolean;
    return name.starts_with('v') ? pepe::FlagKind::kValue : pepe::FlagKind::kUndeclared;
  };
  const pepe::GoFlags given = pepe::split_go_flags(arguments, kind_of);
  PEPE_CHECK(given.used <= arguments.size() && given.flags.size() <= given.used);
  std::vector<std::string> joined;
  for (const pepe::GivenFlag& flag : given.flags) joined.push_back("-" + flag.name + "=" + flag.value);
  const pepe::GoFlags again = pepe::split_go_flags(joined, kind_of);
  PEPE_CHECK(again.flags == given.flags && again.used == joined.size() && !again.fault && !again.help);
}

}  // namespace

/// The first byte says which flag the others are for: n a number, c -connect-to, r -resolvers, t -fail-if; else they
/// are a line of arguments each.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pepe::fuzz::Input input{data, size};
  switch (input.byte()) {
    case 'n': check_numbers(input.rest()); break;
    case 'c': check_connect_to(input.rest()); break;
    case 'r': check_resolvers(input.rest()); break;
    case 't': check_threshold(input.rest()); break;
    default: check_arguments(input.rest());
  }
  return 0;
}
