#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/flags.h"
#include "pepe/base/expected.h"
#include "pepe/engine/attack.h"
#include "pepe/pacer/load.h"

namespace pepe {

enum class ProgressMode {
  kAuto,  ///< When standard error is a terminal.
  kOn,
  kOff,
};

/// What the command line of `attack` says.
struct AttackFlags {
  AttackOptions options;
  std::string rate_text{"50/1s"};
  const PacerEntry* pacer{&pacers().front()};
  LoadFlags load;       ///< Without -rate and -duration, which are in `options`.
  std::string targets;  ///< Empty: none was named.
  bool targets_given{false};
  std::string format{"http"};
  std::string body;  ///< Empty: none.
  std::string output{"stdout"};
  std::string encoding{"msgpack"};
  bool encoding_given{false};
  std::string resolvers;
  std::vector<HeaderField> headers;
  ProgressMode progress{ProgressMode::kAuto};
};

/// Declares every flag of `attack`, group by group, to set `flags`. `flags` must outlive `set`.
void add_attack_flags(FlagSet& set, AttackFlags& flags);

/// What the words behind the flags are for.
struct AttackWords {
  std::vector<std::string> urls;     ///< GET targets.
  std::vector<std::string> ignored;  ///< Neither URLs nor flags.
};

/// Sorts the words. When targets come from elsewhere no word is a target. Error: a flag behind a URL, which
/// Go's rules would ignore in silence (and leave the attack without its end).
Expected<AttackWords> sort_attack_words(std::span<const std::string> words, bool targets_given);

/// The check of -rate against -max-workers. Error: `-rate=0 requires setting -max-workers`.
Expected<void> check_rate(const AttackFlags& flags);

/// The flags as given, for the facts of the run: "-rate=500"; of secret ones the name alone.
std::vector<std::string> flags_as_given(std::span<const GivenFlag> given);

}  // namespace pepe
