#include "cli/start_values.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>
#include <string>

#include "pepe/base/text.h"
#include "pepe/base/time.h"

namespace pepe {
namespace {

constexpr std::uint64_t kMostShards = 1'000'000;

/// How a launcher tells its processes apart. `count` is empty where it does not say how many there are.
struct Launcher {
  const char* index;
  const char* count;
};
// mpirun before srun: it may itself be one task of a Slurm job. Of Slurm the variables of a step: those of a job are
// there in its batch script too, which is one process.
constexpr std::array kLaunchers{
    Launcher{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},  // Open MPI
    Launcher{"PMI_RANK", "PMI_SIZE"},                          // MPICH, Intel MPI
    Launcher{"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},          // srun
    Launcher{"JOB_COMPLETION_INDEX", ""},                      // Kubernetes, indexed jobs
};

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Expected<Shard> checked(std::optional<std::uint64_t> index, std::optional<std::uint64_t> count) {
  if (!index || !count) return Error{"want I/N, auto or auto/N, as in 0/4"};
  if (*count == 0 || *count > kMostShards) return Error{fmt::format("want from 1 to {} shards", kMostShards)};
  if (*index >= *count) return Error{fmt::format("of {} shards the last one is {}/{}", *count, *count - 1, *count)};
  return Shard{*index, *count};
}

// `count`: as given behind auto/, or empty.
Expected<Shard> shard_of_launcher(std::string_view count, const Environment& environment) {
  constexpr std::size_t kShown = 40;
  for (const Launcher& launcher : kLaunchers) {
    const char* const index = environment(launcher.index);
    const char* const said = *launcher.count != '\0' ? environment(launcher.count) : nullptr;
    if (index == nullptr || (said == nullptr && *launcher.count != '\0')) continue;
    if (count.empty() && said == nullptr)
      return Error{fmt::format("{} does not say how many there are: want auto/N", launcher.index)};
    const std::string_view of = count.empty() ? said : count;
    const auto shard = checked(whole_number(index), whole_number(of));
    if (shard) return *shard;
    return Error{fmt::format("{}={} of {}: {}", launcher.index, quote(std::string_view{index}.substr(0, kShown)),
                             quote(of.substr(0, kShown)), shard.error().text())};
  }
  return Error{"nothing in the environment says which shard this is (Open MPI, MPICH, srun, indexed jobs): want I/N"};
}

}  // namespace

Expected<Shard> parse_shard(std::string_view text, const Environment& environment) {
  const std::size_t slash = text.find('/');
  const std::string_view index = text.substr(0, slash);
  const std::string_view count = slash == std::string_view::npos ? "" : text.substr(slash + 1);
  if (index == "auto" && (slash == std::string_view::npos || !count.empty()))
    return shard_of_launcher(count, environment);
  return checked(whole_number(index), whole_number(count));
}

Expected<Timestamp> parse_start_at(std::string_view text) {
  constexpr std::uint64_t kLast = 9'000'000'000;  // what nanoseconds since 1970 still hold, in the year 2255
  constexpr std::size_t kDecimals = 9;
  if (const auto time = parse_rfc3339(text)) return time;
  const std::size_t point = text.find('.');
  const auto seconds = whole_number(text.substr(0, point));
  std::string decimals{point == std::string_view::npos ? "0" : text.substr(point + 1)};
  const bool too_long = decimals.empty() || decimals.size() > kDecimals;
  if (!too_long) decimals.resize(kDecimals, '0');
  const auto nanos = whole_number(decimals);
  if (!seconds || !nanos || too_long || *seconds > kLast)
    return Error{"want a time as in 2030-01-02T15:04:05Z, or seconds since 1970"};
  return Timestamp{.unix_nanos = static_cast<std::int64_t>(*seconds * 1'000'000'000 + *nanos)};
}

Expected<void> check_start(const AttackFlags& flags) {
  if (flags.options.warmup < Nanos{0})
    return Error{fmt::format("-warmup={} is negative", format_duration(flags.options.warmup))};
  if (flags.options.warmup > Nanos{0} && flags.options.lazy)
    return Error{"-warmup would use up the targets of a -lazy list"};
  return {};
}

}  // namespace pepe
