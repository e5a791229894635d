#include "engine/start_time.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <string>

#include "engine/signals.h"
#include "pepe/base/saturate.h"

namespace pepe {
namespace {

// Between the end of the wait and the first hit; what threads and connections need to get ready.
constexpr Nanos kHeadStart = std::chrono::milliseconds{50};
// A wait that is worth a word.
constexpr Nanos kLongWait = std::chrono::seconds{1};

std::int64_t wall_clock_nanos() {
  return std::chrono::duration_cast<Nanos>(std::chrono::system_clock::now().time_since_epoch()).count();
}

Timestamp local(std::int64_t unix_nanos) { return {unix_nanos, local_zone_minutes(unix_nanos)}; }

// On the wall clock, so that a step of it is heeded.
void sleep_until(std::int64_t unix_nanos) {
  const timespec until{.tv_sec = unix_nanos / 1'000'000'000, .tv_nsec = unix_nanos % 1'000'000'000};
  while (::clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
}

// Nearly until there is something to do, if that is a while, or a signal comes.
Expected<void> await_wall_clock(std::int64_t begin, bool heed_signals,
                                const std::function<void(std::string_view)>& notice) {
  const Nanos wait{saturating_add(begin, -wall_clock_nanos())};
  if (wait > kLongWait && notice) notice(fmt::format("the attack begins in {}", format_duration(round_duration(wait))));
  if (wait <= kHeadStart) return {};
  const std::int64_t until = begin - kHeadStart.count();
  if (heed_signals) return sleep_until_signal(until);
  sleep_until(until);
  return {};
}

Error too_late(std::int64_t start_at, Nanos warmup, Nanos by) {
  std::string time;
  append_rfc3339(local(start_at), time);
  const bool warms_up = warmup > Nanos{0};
  return Error{fmt::format("-start-at={}{} was {} ago", time,
                           warms_up ? fmt::format(" less -warmup={}", format_duration(warmup)) : "",
                           format_duration(round_duration(by)))};
}

}  // namespace

Expected<StartTime> await_start(const AttackOptions& options, const std::function<void(std::string_view)>& notice) {
  if (options.start_at) {
    const std::int64_t begin = saturating_add(options.start_at->unix_nanos, -options.warmup.count());
    if (auto waited = await_wall_clock(begin, options.handle_signals, notice); !waited)
      return std::move(waited).error();
  }
  // Nothing between these two: they are one moment on two clocks.
  const std::int64_t wall = wall_clock_nanos();
  const Instant now = Clock::now();
  const Nanos lead = options.start_at ? Nanos{saturating_add(options.start_at->unix_nanos, -wall)} : options.warmup;
  if (lead < options.warmup) {
    const Nanos::rep passed = -std::max(lead, -Nanos::max()).count();
    return too_late(options.start_at->unix_nanos, options.warmup,
                    Nanos{saturating_add(options.warmup.count(), passed)});
  }
  return StartTime{.start = local(saturating_add(wall, lead.count())),
                   .start_instant = after(now, lead),
                   .warmup_instant = after(now, lead - options.warmup)};
}

}  // namespace pepe
