#include "cli/commands.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>

#include "cli/console.h"
#include "cli/exit_status.h"
#include "cli/flag_values.h"
#include "cli/output_file.h"
#include "cli/version.h"

namespace pepe {
namespace {

constexpr std::array<Command, 5> kCommands{{
    {"attack", "send hits to targets at a rate, write a result for each", run_attack},
    {"report", "figures of results: text, json, histogram", run_report},
    {"plot", "results over time, as an HTML page", run_plot},
    {"encode", "results in another encoding: json, csv, gob, msgpack", run_encode},
    {"dump", "",
     [](std::span<const std::string>, const GlobalOptions&) { return fail("dump is no more: use encode"); }},
}};

/// Standard streams that were closed when the process started get a descriptor that neither reads nor writes
/// anything, or the next file or socket would take their place and be written to.
void hold_closed_streams() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) >= 0) continue;
    // The lowest free number is the one that is missing.
    [[maybe_unused]] const int held = ::open("/dev/null", O_RDONLY);
  }
}

/// As many descriptors as the system allows: a connection is one each.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

Expected<void> set_cpus(std::string_view text, unsigned& cpus) {
  const auto count = parse_int(text);
  if (!count) return count.error();
  constexpr std::int64_t kMost = 4096;
  cpus = static_cast<unsigned>(std::clamp<std::int64_t>(*count, 0, kMost));
  return {};
}

std::string command_list() {
  std::string out = "\n\nCommands:\n";
  for (const Command& command : commands()) {
    if (!command.about.empty()) out += fmt::format("  {:<10}{}\n", command.name, command.about);
  }
  out += "\n`pepe COMMAND -h` lists the flags of a command.";
  return out;
}

int print_version() {
  auto out = OutputFile::open("stdout");
  if (!out) return fail(out.error().text());
  if (const auto written = out->write(version_text()); !written) return out->fail(written.error());
  return kExitOk;
}

}  // namespace

std::span<const Command> commands() { return kCommands; }

int explain_fault(const FlagSet& flags, std::string_view fault) {
  // Above the usage for who reads from the top, below it for who sees the end of a terminal.
  const std::string line = one_line(fault);
  print_error_text(line + flags.usage() + "\n" + line);
  return kExitUsage;
}

std::optional<int> parse_or_explain(FlagSet& flags, std::span<const std::string> args, ParsedArguments& parsed) {
  parsed = flags.parse(args);
  if (parsed.fault) return explain_fault(flags, *parsed.fault);
  if (parsed.help) {
    print_error_text(flags.usage());
    return kExitOk;
  }
  return std::nullopt;
}

int run_pepe(std::span<const std::string> args) {
  hold_closed_streams();
  raise_descriptor_limit();
  // A write that meets a closed pipe or a file size limit fails, and says so.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);

  GlobalOptions global;
  bool version_asked = false;
  std::string profile;
  FlagSet flags{"pepe [global flags] COMMAND [flags] [arguments]",
                "Sends HTTP requests at a constant rate and keeps the result of each." + command_list()};
  flags.set_examples({"pepe attack -rate=100 -duration=5s http://127.0.0.1:8080/ | pepe report",
                      "pepe attack -targets=targets.txt -rate=500 -duration=30s -output=out.bin",
                      "pepe report -type=json out.bin", "pepe plot out.bin > plot.html"});
  flags.begin_group("Global flags");
  flags.add({"cpus", "N", "most threads that send at once", "those this process may use"},
            [&global](std::string_view text) { return set_cpus(text, global.cpus); });
  flags.add_string({"profile", "LIST", "accepted and ignored: perf(1) profiles pepe"}, profile);
  flags.add_bool("version", version_asked, "print the version and end");

  ParsedArguments parsed;
  if (const auto status = parse_or_explain(flags, args, parsed)) return *status;
  if (version_asked) return print_version();
  if (parsed.words.empty()) {
    print_error_text(flags.usage());
    return kExitFailure;
  }
  const std::span<const std::string> words{parsed.words};
  for (const Command& command : commands()) {
    if (command.name == words.front()) return command.run(words.subspan(1), global);
  }
  return fail("Unknown command: " + words.front());
}

}  // namespace pepe
