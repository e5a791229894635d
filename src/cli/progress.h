#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "cli/chunk_sinks.h"
#include "pepe/base/time.h"
#include "pepe/engine/attack.h"

namespace pepe {

/// All that the live line shows.
struct ProgressView {
  AttackProgress counts;
  std::optional<double> asked;  ///< Hits a second; nullopt: as many as there can be.
  bool asked_varies{false};     ///< It is what was due lately.
  Nanos duration{0};            ///< 0 or less: until a signal.
  double reached{0};            ///< Answers a second, lately.
  LatencyGlance latency;
};

/// What an attack is to do.
struct ProgressPlan {
  std::optional<double> asked{};  ///< Hits a second; nullopt: as many as there can be, or as `hits_before` has it.
  std::function<std::uint64_t(Nanos offset)> hits_before{};  ///< Of a rate that changes: what is due by then.
  Nanos duration{0};                                         ///< 0 or less: until a signal.
};

/// "12s of 30s  500/s asked, 499.8/s reached  6,001 sent  0 errors  p50 1.2ms  p99 3.4ms  2 in flight"
std::string format_progress(const ProgressView& view);

/// The live line of an attack on standard error: redrawn in place on a terminal, else a line at a time.
class ProgressLine {
 public:
  /// `glance` gives the latencies since it was last asked.
  ProgressLine(ProgressPlan plan, bool terminal, std::function<LatencyGlance()> glance);

  /// Draws what there is, at most a few times a second.
  void update(const AttackProgress& counts);
  /// Takes the line off the screen, so that something else can be said.
  void clear();

 private:
  void refresh_window(const AttackProgress& counts);

  ProgressPlan plan_;
  ProgressView view_;
  bool terminal_;
  std::function<LatencyGlance()> glance_;
  std::optional<Nanos> drawn_;   ///< When, as time elapsed.
  AttackProgress window_start_;  ///< What `asked`, `reached` and `latency` count from.
  bool shown_{false};
};

}  // namespace pepe
