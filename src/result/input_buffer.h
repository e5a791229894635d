#pragma once

#include <cstddef>
#include <memory>

#include "pepe/base/expected.h"
#include "pepe/result/codec.h"
#include "pepe/result/stream.h"

namespace pepe {

/// Keeps an InputWindow filled from a ReadSome. The memory is used again and again; it grows only where one record is
/// larger, and never beyond the largest record that a format allows.
class InputBuffer {
 public:
  explicit InputBuffer(ReadSome read) : read_{std::move(read)} {}

  /// What has been read and is not used up. Whoever uses bytes up moves `pos`.
  InputWindow& window() noexcept { return window_; }
  /// Reads once, behind the bytes that are there, and moves these. At the end: window().at_end.
  /// Error: that of the read, or a record that is too large.
  Expected<void> fill();

 private:
  Expected<void> make_room();

  ReadSome read_;
  std::unique_ptr<char[]> data_;
  std::size_t capacity_{0};
  InputWindow window_;
};

}  // namespace pepe
