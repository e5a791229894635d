#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pepe::fuzz {

/// The bytes of one run, taken from the front. What is no longer there is 0, or empty.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : rest_{reinterpret_cast<const char*>(data), size} {}

  bool empty() const noexcept { return rest_.empty(); }
  std::string_view rest() const noexcept { return rest_; }

  std::uint8_t byte() { return number<std::uint8_t>(); }
  template <class Number>
  Number number() {
    Number value{};
    const std::string_view bytes = text(sizeof value);
    std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(&value));
    return value;
  }
  std::string_view text(std::size_t size) {
    const std::string_view bytes = rest_.substr(0, size);
    rest_.remove_prefix(bytes.size());
    return bytes;
  }
  /// Up to the next line end, which is taken with it.
  std::string_view line() {
    const std::string_view bytes = text(rest_.find('\n'));
    static_cast<void>(byte());
    return bytes;
  }

 private:
  std::string_view rest_;
};

/// A number that every byte of `bytes` has a say in: chances that are the same each time an input runs.
inline std::uint64_t dice(std::string_view bytes) noexcept {
  std::uint64_t hash = 14695981039346656037U;  // FNV-1a
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return hash;
}

}  // namespace pepe::fuzz
