#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace pepe {

/// Says what was lost, up to a number of lines: a file that is broken all over is not worth a line for each place.
class DamageLog {
 public:
  explicit DamageLog(std::function<void(std::string)> say) : say_{std::move(say)} {}

  void add(std::string text) {
    if (++places_ <= kMaxLines && say_) say_(std::move(text));
  }
  /// To be called at the end of the stream.
  void finish() {
    if (places_ > kMaxLines && say_) say_("and " + std::to_string(places_ - kMaxLines) + " more damaged places");
    places_ = 0;
  }

 private:
  static constexpr std::uint64_t kMaxLines = 20;
  std::function<void(std::string)> say_;
  std::uint64_t places_{0};
};

}  // namespace pepe
