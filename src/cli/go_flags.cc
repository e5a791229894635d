#include "cli/go_flags.h"

namespace pepe {
namespace {

/// A dashed argument in its parts.
struct DashedArgument {
  std::string_view name;
  std::optional<std::string_view> value;
};

/// nullopt: three dashes, or no name behind the dashes.
std::optional<DashedArgument> split_argument(std::string_view argument) {
  std::string_view rest = argument.substr(argument.starts_with("--") ? 2 : 1);
  if (rest.empty() || rest.front() == '-' || rest.front() == '=') return std::nullopt;
  const std::size_t equals = rest.find('=');
  if (equals == std::string_view::npos) return DashedArgument{rest, std::nullopt};
  return DashedArgument{rest.substr(0, equals), rest.substr(equals + 1)};
}

}  // namespace

GoFlags split_go_flags(std::span<const std::string> args,
                       const std::function<FlagKind(std::string_view name)>& kind_of) {
  GoFlags result;
  while (result.used < args.size()) {
    const std::string& argument = args[result.used];
    if (argument.size() < 2 || argument.front() != '-') return result;
    ++result.used;
    if (argument == "--") return result;
    const auto parts = split_argument(argument);
    if (!parts) {
      result.fault = "bad flag syntax: " + argument;
      return result;
    }
    const std::string name{parts->name};
    switch (kind_of(name)) {
      case FlagKind::kUndeclared:
        result.help = name == "h" || name == "help";
        if (!result.help) result.fault = "flag provided but not defined: -" + name;
        return result;
      case FlagKind::kBoolean: result.flags.push_back({name, std::string{parts->value.value_or("true")}}); break;
      case FlagKind::kValue:
        if (parts->value) {
          result.flags.push_back({name, std::string{*parts->value}});
        } else if (result.used < args.size()) {
          result.flags.push_back({name, args[result.used++]});
        } else {
          result.fault = "flag needs an argument: -" + name;
          return result;
        }
        break;
    }
  }
  return result;
}

}  // namespace pepe
