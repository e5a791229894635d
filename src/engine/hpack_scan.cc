#include "engine/hpack_scan.h"

#include <cstdint>

namespace pepe {
namespace {

class Cursor {
 public:
  explicit Cursor(std::string_view block) : block_{block} {}

  bool at_end() const noexcept { return at_ == block_.size(); }
  std::size_t position() const noexcept { return at_; }
  unsigned peek() const noexcept { return static_cast<unsigned char>(block_[at_]); }

  // RFC 7541 5.1. REQUIRES: not at the end.
  std::optional<std::uint64_t> number(unsigned prefix_bits) {
    const unsigned most = (1U << prefix_bits) - 1;
    std::uint64_t value = peek() & most;
    ++at_;
    if (value < most) return value;
    for (unsigned shift = 0; shift <= kMostShift; shift += 7) {
      if (at_end()) return std::nullopt;
      const unsigned byte = peek();
      ++at_;
      value += std::uint64_t{byte & 0x7F} << shift;
      if ((byte & 0x80) == 0) return value;
    }
    return std::nullopt;
  }

  bool skip_string() {
    if (at_end()) return false;
    const auto size = number(7);
    if (!size || *size > block_.size() - at_) return false;
    at_ += static_cast<std::size_t>(*size);
    return true;
  }

 private:
  static constexpr unsigned kMostShift = 28;

  std::string_view block_;
  std::size_t at_{0};
};

}  // namespace

std::optional<HpackScan> scan_hpack(std::string_view block) {
  HpackScan scan;
  Cursor cursor{block};
  while (!cursor.at_end()) {
    const unsigned first = cursor.peek();
    scan.last_value = std::string_view::npos;
    if ((first & 0x80) != 0) {  // indexed
      if (!cursor.number(7)) return std::nullopt;
      continue;
    }
    if ((first & 0xE0) == 0x20) {  // the table's size
      scan.stable = false;
      if (!cursor.number(5)) return std::nullopt;
      continue;
    }
    const bool inserts = (first & 0x40) != 0;
    if (inserts) scan.stable = false;
    const auto name = cursor.number(inserts ? 6 : 4);
    if (!name || (*name == 0 && !cursor.skip_string())) return std::nullopt;
    scan.last_value = cursor.position();
    if (!cursor.skip_string()) return std::nullopt;
  }
  return scan;
}

}  // namespace pepe
