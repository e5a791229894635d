#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/go_flags.h"
#include "pepe/base/expected.h"
#include "pepe/base/time.h"

namespace pepe {

/// A flag as the usage text shows it.
struct FlagSpec {
  std::string name;
  std::string value;           ///< What stands for the value: "N", "FILE". Empty for a boolean.
  std::string help;            ///< One sentence, no full stop.
  std::string default_text{};  ///< Empty: none is shown.
  bool secret{false};  ///< Of "Name: value" the value is never shown: not in a fault, not in the facts of a run.
};

/// What came of the arguments of a command.
struct ParsedArguments {
  std::vector<std::string> words;    ///< What follows the flags.
  std::vector<GivenFlag> given;      ///< The flags, in order; the values of secret ones are empty.
  bool help{false};                  ///< Help was asked for.
  std::optional<std::string> fault;  ///< One line on what is wrong with the flags.
};

/// The flags of one command: what they are called, what they set and how they are explained. The declarations
/// live in a CLI11 app; Go's syntax is taken apart before it.
class FlagSet {
 public:
  /// Takes the text of a value. Error: the reason alone ("parse error").
  using Setter = std::function<Expected<void>(std::string_view value)>;

  /// `synopsis` is how the command is called, `about` what it does.
  FlagSet(std::string synopsis, std::string about);
  ~FlagSet();

  /// Command lines that stand at the end of the usage text.
  void set_examples(std::vector<std::string> lines);
  /// The flags declared from here on stand under `title` in the usage text.
  void begin_group(std::string title);
  void add(FlagSpec spec, Setter set);
  void add_bool(std::string name, bool& value, std::string help);
  void add_string(FlagSpec spec, std::string& value);
  void add_duration(FlagSpec spec, Nanos& value);
  void add_int(FlagSpec spec, std::int64_t& value);
  void add_uint(FlagSpec spec, std::uint64_t& value);

  /// Sets what the flags at the front of `args` say, in order, up to the first fault.
  ParsedArguments parse(std::span<const std::string> args);
  /// The usage text: the synopsis, then every flag under its group, then the examples.
  std::string usage() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A setter that parses the text and, when that went well, assigns what came of it. `target` must outlive it.
template <class T, class Parse>
FlagSet::Setter assign(T& target, Parse parse) {
  return [&target, parse](std::string_view text) -> Expected<void> {
    auto value = parse(text);
    if (!value) return std::move(value).error();
    target = *std::move(value);
    return {};
  };
}

}  // namespace pepe
