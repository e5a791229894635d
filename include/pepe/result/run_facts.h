#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pepe/base/time.h"
#include "pepe/base/units.h"

namespace pepe {

/// What one sending thread did.
struct ThreadFacts {
  double busy_share{0};       ///< CPU time over wall time of the whole run, 0 to 1.
  double peak_busy_share{0};  ///< The same, for its busiest second.
};

/// Facts about a run that its results do not hold. Written to the native stream when the attack starts and, complete,
/// when it ends; a reader of a stream that was cut has the first part only (`complete` is false).
struct RunFacts {
  std::uint64_t run_id{0};         ///< Random; the same in every chunk of the run.
  std::string version;             ///< Of the pepe that attacked.
  std::string attack;              ///< -name.
  std::vector<std::string> flags;  ///< As given; the values of -header and -proxy-header are left out (secrets).
  Timestamp start;
  Rate rate;          ///< As planned, on average; hits == 0: closed loop.
  std::string pacer;  ///< How the rate was to change, in words: "linear, 0/1s to 500/1s"; empty: not at all.
  Nanos duration{0};  ///< As planned; 0: until stopped.

  bool complete{false};     ///< The rest is known.
  Nanos elapsed{0};         ///< From the start to the last result.
  std::uint64_t sent{0};    ///< Hits sent, whatever came of them.
  std::uint64_t missed{0};  ///< Hits that were due and never sent: no slot, connection or target was free.
  std::uint64_t late{0};    ///< Hits taken up more than kLateAfter after they were due.
  Nanos worst_lag{0};
  bool limited{false};  ///< The generator, not the server, was the limit; `limit` says how.
  std::string limit;    ///< One clause for a person, or empty.
  std::vector<ThreadFacts> threads;
};

/// A hit taken up later than this counts as late.
inline constexpr Nanos kLateAfter = std::chrono::milliseconds{10};

}  // namespace pepe
