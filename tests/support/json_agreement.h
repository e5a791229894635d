#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "pepe/result/codec.h"
#include "result/json_line.h"
#include "result/json_record.h"

namespace pepe {

/// The two readers of JSON, which must agree: what the fast one takes, the general one reads as the same result.
class JsonReaders {
 public:
  explicit JsonReaders(DecodeOptions options = {}) : usual_{options}, general_{options} {}

  /// How they differ over `line`, for the message of a failed test; empty: they agree.
  std::string disagree_on(std::string_view line);

  /// Lines so far that the fast one took.
  std::size_t taken() const { return taken_; }

 private:
  JsonLine usual_;
  JsonRecord general_;
  std::size_t taken_{0};
};

}  // namespace pepe
