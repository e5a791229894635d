#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "pepe/metrics/metrics.h"

namespace pepe {

/// Counts error texts: each distinct one, and each kind of them (texts that differ in the local port or the HTTP/2
/// stream only). Memory is bounded: texts are cut at kMaxErrorText bytes, and past kMaxErrors kinds, as many further
/// texts of known kinds, or so many bytes in all, results are counted without their text.
class ErrorTally {
 public:
  static constexpr std::size_t kMaxErrorText = 4096;

  explicit ErrorTally(std::size_t max_bytes) : max_bytes_{max_bytes} {}

  /// REQUIRES: `error` is not empty.
  void add(std::string_view error);
  void write_to(MetricsSummary& summary) const;

 private:
  struct Kind {
    std::string key;  ///< The text with `*` for the number, or the text itself.
    std::uint64_t count{0};
    bool merged{false};  ///< It has several texts.
  };
  struct Text {
    std::string text;
    std::uint64_t count{0};
    std::size_t kind{0};
  };
  /// The texts of a stream tend to come from the same few places in memory, which saves hashing them. A place is only
  /// a guess, for memory is used again: the text is compared all the same.
  struct Place {
    const char* data{nullptr};
    std::size_t text{0};
  };

  void count_text(std::size_t text);
  void add_new(std::string_view error);
  bool add_text(std::string_view error, std::size_t kind);

  // Deques, so that the views which the indexes hold stay valid.
  std::deque<Text> texts_;
  std::deque<Kind> kinds_;
  std::unordered_map<std::string_view, std::size_t> text_index_;
  std::unordered_map<std::string_view, std::size_t> kind_index_;
  std::array<Place, 16> places_{};
  std::string masked_;
  std::size_t max_bytes_;
  std::size_t bytes_{0};
  std::uint64_t left_out_{0};
};

/// Makes `out` be `error` with `*` in place of what differs from hit to hit: each local port, which is the digits
/// between
/// ":" and "->" in "read tcp 127.0.0.1:40312->127.0.0.1:80: read: connection reset by peer", and the HTTP/2 stream of
/// "stream error: stream ID 7; CANCEL".
void mask_passing_numbers(std::string_view error, std::string& out);

}  // namespace pepe
