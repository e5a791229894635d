#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "pepe/base/expected.h"
#include "pepe/base/time.h"

namespace pepe {

/// The flags of a bench program, in pepe's own syntax: `-name=value`, `-name value`, `-switch`.
/// Borrows the variables that it sets.
class Flags {
 public:
  using Value = std::variant<bool*, std::uint64_t*, Nanos*, std::string*>;

  void add(std::string_view name, Value value, std::string_view help) { rows_.push_back({name, value, help}); }

  /// Error: one line that names the argument at fault.
  Expected<void> parse(int argc, char** argv) const {
    for (int i = 1; i < argc; ++i) {
      std::string_view argument{argv[i]};
      const std::size_t dashes = argument.starts_with("--") ? 2 : argument.starts_with("-") ? 1 : 0;
      const std::size_t equals = argument.find('=');
      const std::string_view name = argument.substr(dashes, equals - dashes);
      const Row* row = dashes == 0 ? nullptr : find(name);
      if (row == nullptr) return Error{"unknown argument: " + std::string{argument} + "\n" + usage()};
      if (bool* const* on = std::get_if<bool*>(&row->value); on != nullptr && equals == argument.npos) {
        **on = true;
        continue;
      }
      if (equals == argument.npos && ++i == argc) return Error{"flag needs a value: " + std::string{argument}};
      const std::string_view text = equals == argument.npos ? argv[i] : argument.substr(equals + 1);
      if (!set(row->value, text)) return Error{"bad value for -" + std::string{name} + ": " + std::string{text}};
    }
    return {};
  }

  std::string usage() const {
    std::string out = "flags:";
    for (const Row& row : rows_) out.append("\n  -").append(row.name).append("  ").append(row.help);
    return out;
  }

 private:
  struct Row {
    std::string_view name;
    Value value;
    std::string_view help;
  };

  const Row* find(std::string_view name) const {
    for (const Row& row : rows_)
      if (row.name == name) return &row;
    return nullptr;
  }

  static bool set(const Value& value, std::string_view text) {
    if (std::string* const* out = std::get_if<std::string*>(&value)) {
      **out = text;
      return true;
    }
    if (bool* const* out = std::get_if<bool*>(&value)) {
      **out = text == "true";
      return text == "true" || text == "false";
    }
    if (Nanos* const* out = std::get_if<Nanos*>(&value)) {
      const Expected<Nanos> duration = parse_duration(text);
      if (duration) **out = *duration;
      return duration.has_value();
    }
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), **std::get_if<std::uint64_t*>(&value));
    return error == std::errc{} && end == text.data() + text.size();
  }

  std::vector<Row> rows_;
};

}  // namespace pepe
