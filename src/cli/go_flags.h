#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pepe {

enum class FlagKind {
  kUndeclared,
  kBoolean,  ///< Takes a value only after `=`.
  kValue,    ///< Takes a value after `=`, or the next argument, whatever that looks like.
};

/// One flag as given.
struct GivenFlag {
  std::string name;   ///< Without dashes.
  std::string value;  ///< "true" for a boolean without one.
  friend bool operator==(const GivenFlag&, const GivenFlag&) = default;
};

/// Arguments, taken apart by the rules of Go's flag package.
struct GoFlags {
  std::vector<GivenFlag> flags;      ///< In order, up to the end of the flags, a request for help, or the fault.
  std::size_t used{0};               ///< How many arguments the flags (and a closing `--`) took; words follow.
  bool help{false};                  ///< -h or -help was asked for and is no declared flag.
  std::optional<std::string> fault;  ///< In Go's words, such as `flag provided but not defined: -x`.
};

/// Takes the flags off the front of `args`: one or two dashes, `-name=value` or `-name value`. They end at
/// the first argument that does not start with a dash, at a lone `-`, and after `--`.
GoFlags split_go_flags(std::span<const std::string> args,
                       const std::function<FlagKind(std::string_view name)>& kind_of);

}  // namespace pepe
