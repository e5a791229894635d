#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "pepe/base/expected.h"
#include "pepe/result/codec.h"
#include "result/damage_log.h"

namespace pepe {

/// Finds one whole, undamaged chunk after the other. Bytes that are none are passed over and reported, one line for
/// each place.
class ChunkFinder {
 public:
  enum class Found { kChunk, kNeedMore, kEnd };

  explicit ChunkFinder(DamageLog& damage) : damage_{damage} {}

  /// kChunk: it begins at in.pos and `payload` is in it; the caller moves on to behind it. Error: a chunk of a format
  /// version that can't be read, or damage without end.
  Expected<Found> find(InputWindow& in, std::string_view& payload);

 private:
  bool spend(const InputWindow& in, std::size_t bytes) noexcept;
  void lose(InputWindow& in, std::size_t bytes, std::string_view reason);
  void lose_up_to_magic(InputWindow& in, std::string_view reason);
  void report_lost(const InputWindow& in);

  DamageLog& damage_;
  bool losing_{false};
  std::uint64_t lost_from_{0};
  std::string_view reason_;  ///< A literal.
  std::uint64_t spent_{0};   ///< Bytes whose checksum was taken in vain.
};

}  // namespace pepe
