#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pepe/result/result.h"

namespace pepe {

/// A result that owns its memory, so that it can outlive the decoder that made it, be compared and be
/// changed.
struct RandomResult {
  std::string attack;
  std::uint64_t seq{0};
  std::uint16_t code{0};
  Timestamp timestamp;
  Nanos latency{0};
  std::uint64_t bytes_out{0};
  std::uint64_t bytes_in{0};
  std::string error;
  std::optional<std::string> body;
  std::string method;
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;
  bool has_headers{false};
  Nanos lag{0};
  bool has_lag{false};
  std::uint64_t bytes_read{0};
  bool reused{false};
  Protocol protocol{Protocol::kNone};

  /// Views into this object, valid until it changes or view() is called again.
  Result view();

  friend bool operator==(const RandomResult& a, const RandomResult& b);

 private:
  std::vector<HeaderView> views_;
};

/// Prints every field, for the message of a failed comparison.
std::ostream& operator<<(std::ostream& out, const RandomResult& result);

RandomResult copy_of(const Result& result);

/// A result made from `seed` alone. Many fields are empty, extreme (the ends of their ranges) or hold bytes
/// that some encoding must escape: quotes, commas, line ends, control characters, UTF-8 of every length,
/// bytes that are none. What holds for real results holds here: header names are canonical tokens, values
/// neither begin nor end with blanks nor hold line breaks; a zone is a multiple of 15 minutes.
RandomResult random_result(std::uint64_t seed);

}  // namespace pepe
