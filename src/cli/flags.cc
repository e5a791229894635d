#include "cli/flags.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <map>

#include "cli/flag_values.h"
#include "pepe/base/text.h"

namespace pepe {
namespace {

constexpr std::size_t kHelpColumn = 28;
constexpr std::size_t kWidth = 100;

/// Appends `text` from column kHelpColumn on, broken at blanks.
void append_wrapped(std::string_view text, std::string& out) {
  std::size_t column = kHelpColumn;
  while (!text.empty()) {
    const std::size_t blank = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, blank);
    if (column > kHelpColumn && column + 1 + word.size() > kWidth) {
      out += '\n';
      out.append(kHelpColumn, ' ');
      column = kHelpColumn;
    }
    if (column > kHelpColumn) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
    text.remove_prefix(std::min(blank + 1, text.size()));
  }
  out += '\n';
}

/// What of a secret "Name: value" may be shown: the name. Without a colon a word is taken for one, but not what ends as
/// base64 does.
std::string_view secret_name(std::string_view text) {
  if (text.ends_with('=')) return kHidden;
  return text.substr(0, text.find_first_of(":= \t"));
}

}  // namespace

struct FlagSet::State {
  struct Declared {
    const CLI::Option* option;
    bool secret;  ///< Its value is not to be shown.
  };

  std::string synopsis;
  CLI::App app;
  std::string group;
  std::vector<std::string> examples;
  /// By name. CLI11 finds options as well, but cannot do without memory there: what it throws ends the process.
  std::map<std::string, Declared, std::less<>> declared;
  std::string name;  ///< Of the flag that is being set, for `fault`.
  std::string fault;

  bool is_bool(const CLI::Option& option) const { return option.get_type_name().empty(); }

  /// Gives one flag to CLI11, whose callback runs at once. False: `fault` says what is wrong.
  bool set(const GivenFlag& flag);
};

FlagSet::FlagSet(std::string synopsis, std::string about) : state_{std::make_unique<State>()} {
  state_->synopsis = std::move(synopsis);
  state_->app.description(std::move(about));
  state_->app.set_help_flag();
}

FlagSet::~FlagSet() = default;

void FlagSet::set_examples(std::vector<std::string> lines) { state_->examples = std::move(lines); }

void FlagSet::begin_group(std::string title) { state_->group = std::move(title); }

void FlagSet::add(FlagSpec spec, Setter set) {
  State& state = *state_;
  const auto callback = [&state, set = std::move(set), secret = spec.secret,
                         boolean = spec.value.empty()](const CLI::results_t& results) {
    const std::string& value = results.back();
    const auto outcome = set(value);
    if (outcome) return true;
    const std::string shown = " " + quote(secret ? secret_name(value) : std::string_view{value});
    state.fault = boolean
                      ? fmt::format("invalid boolean value{} for -{}: {}", shown, state.name, outcome.error().text())
                      : fmt::format("invalid value{} for flag -{}: {}", shown, state.name, outcome.error().text());
    return false;
  };
  const CLI::Option* const option = state.app.add_option("--" + spec.name, callback, spec.help)
                                        ->type_name(spec.value)
                                        ->default_str(spec.default_text)
                                        ->group(state.group)
                                        ->trigger_on_parse();
  state.declared[spec.name] = {option, spec.secret};
}

void FlagSet::add_bool(std::string name, bool& value, std::string help) {
  add({std::move(name), "", std::move(help), value ? "true" : ""}, [&value](std::string_view text) -> Expected<void> {
    const auto parsed = parse_bool(text);
    if (!parsed) return parsed.error();
    value = *parsed;
    return {};
  });
}

void FlagSet::add_string(FlagSpec spec, std::string& value) {
  add(std::move(spec), [&value](std::string_view text) -> Expected<void> {
    value = text;
    return {};
  });
}

void FlagSet::add_duration(FlagSpec spec, Nanos& value) {
  add(std::move(spec), [&value](std::string_view text) -> Expected<void> {
    const auto parsed = parse_duration(text);
    if (!parsed) return Error{"parse error: " + parsed.error().text()};
    value = *parsed;
    return {};
  });
}

void FlagSet::add_int(FlagSpec spec, std::int64_t& value) {
  add(std::move(spec), [&value](std::string_view text) -> Expected<void> {
    const auto parsed = parse_int(text);
    if (!parsed) return parsed.error();
    value = *parsed;
    return {};
  });
}

void FlagSet::add_uint(FlagSpec spec, std::uint64_t& value) {
  add(std::move(spec), [&value](std::string_view text) -> Expected<void> {
    const auto parsed = parse_uint(text);
    if (!parsed) return parsed.error();
    value = *parsed;
    return {};
  });
}

bool FlagSet::State::set(const GivenFlag& flag) {
  name = flag.name;
  fault.clear();
  // CLI11 takes its arguments from the back. A value of its own, never joined with `=`, is taken whatever it
  // holds.
  try {
    app.parse(std::vector<std::string>{flag.value, "--" + flag.name});
  } catch (const CLI::Error& error) {
    if (fault.empty()) fault = fmt::format("invalid value for flag -{}: {}", flag.name, error.what());
  }
  return fault.empty();
}

ParsedArguments FlagSet::parse(std::span<const std::string> args) {
  const auto kind_of = [this](std::string_view name) {
    const auto found = state_->declared.find(name);
    if (found == state_->declared.end()) return FlagKind::kUndeclared;
    return state_->is_bool(*found->second.option) ? FlagKind::kBoolean : FlagKind::kValue;
  };
  GoFlags split = split_go_flags(args, kind_of);
  ParsedArguments parsed;
  for (GivenFlag& flag : split.flags) {
    if (!state_->set(flag)) {
      parsed.fault = state_->fault;
      return parsed;
    }
    if (state_->declared.at(flag.name).secret) flag.value.clear();
  }
  parsed.given = std::move(split.flags);
  parsed.help = split.help;
  parsed.fault = std::move(split.fault);
  parsed.words.assign(args.begin() + static_cast<std::ptrdiff_t>(split.used), args.end());
  return parsed;
}

std::string FlagSet::usage() const {
  std::string out = fmt::format("Usage: {}\n\n{}\n", state_->synopsis, state_->app.get_description());
  for (const std::string& group : state_->app.get_groups()) {
    out += fmt::format("\n{}:\n", group);
    const auto in_group = [&group](const CLI::Option* option) { return option->get_group() == group; };
    for (const CLI::Option* option : state_->app.get_options(in_group)) {
      std::string left = "  -" + option->get_lnames().front();
      if (!state_->is_bool(*option)) left += " " + option->get_type_name();
      out += left;
      const std::size_t gap = left.size() + 2 <= kHelpColumn ? kHelpColumn - left.size() : 0;
      out.append(gap, ' ');
      if (gap == 0) out.append("\n").append(kHelpColumn, ' ');
      std::string help = option->get_description();
      if (!option->get_default_str().empty()) help += fmt::format(" (default: {})", option->get_default_str());
      append_wrapped(help, out);
    }
  }
  if (!state_->examples.empty()) out += "\nExamples:\n";
  for (const std::string& example : state_->examples) out += fmt::format("  {}\n", example);
  return out;
}

}  // namespace pepe
