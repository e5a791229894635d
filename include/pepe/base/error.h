#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace pepe {

/// Bad input or a bad environment, as one line for a person. A hit that fails is not an Error: it is a Result.
class Error {
 public:
  explicit Error(std::string text) : text_{std::move(text)} {}

  /// What was found and what was expected; no trailing newline, no secrets.
  const std::string& text() const noexcept { return text_; }

  /// The same error with where it was found in front: `place:line: text`.
  Error at(std::string_view place, std::uint64_t line) && {
    return Error{std::string{place} + ":" + std::to_string(line) + ": " + text_};
  }

  friend bool operator==(const Error&, const Error&) = default;

 private:
  std::string text_;
};

/// `text` followed by ": " and the system's words for `errno_value`, in Go's lower case ("no such file or directory").
Error system_error(std::string_view text, int errno_value);

/// The system's words for `errno_value`, lower case at the first letter, as Go prints them.
std::string errno_text(int errno_value);

}  // namespace pepe
