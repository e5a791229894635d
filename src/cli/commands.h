#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cli/flags.h"

namespace pepe {

/// What stands before the command.
struct GlobalOptions {
  unsigned cpus{0};  ///< -cpus; 0: those this process may use.
};

/// One row: a command by its name. `run` takes what follows the name and returns the exit status.
struct Command {
  std::string_view name;
  std::string_view about;
  int (*run)(std::span<const std::string> args, const GlobalOptions& global);
};

std::span<const Command> commands();

int run_attack(std::span<const std::string> args, const GlobalOptions& global);
int run_report(std::span<const std::string> args, const GlobalOptions& global);
int run_plot(std::span<const std::string> args, const GlobalOptions& global);
int run_encode(std::span<const std::string> args, const GlobalOptions& global);

/// The whole program: global flags, then the command. Returns the exit status.
int run_pepe(std::span<const std::string> args);

/// Says `fault` on standard error, with the usage text. Returns the status to end with.
int explain_fault(const FlagSet& flags, std::string_view fault);

/// Parses the flags at the front of `args`. Help and faults are said on standard error, with the usage text;
/// then the status to end with is returned, else nullopt.
std::optional<int> parse_or_explain(FlagSet& flags, std::span<const std::string> args, ParsedArguments& parsed);

}  // namespace pepe
