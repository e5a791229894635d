#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "pepe/base/expected.h"
#include "pepe/result/codec.h"
#include "pepe/result/result.h"
#include "result/time_text.h"

namespace pepe {

/// Reads one JSON object into a Result: exact field names in any order, unknown ones skipped, null is zero.
class JsonRecord {
 public:
  explicit JsonRecord(DecodeOptions options) : options_{options} {}

  /// `out` refers to this object's memory until the next call. Error: what was found, without the place.
  Expected<void> parse(std::string_view line, Result& out);

 private:
  struct Handler;

  DecodeOptions options_;
  std::string line_;  ///< Unescaped in place: the strings of a Result refer to it.
  std::string body_;
  std::vector<HeaderView> headers_;
  TimestampReader time_;
};

}  // namespace pepe
