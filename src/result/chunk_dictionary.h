#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "result/msgpack_writer.h"

namespace pepe {

/// One part of a chunk's dictionary: distinct entries, numbered from 0, in the very bytes that the chunk will have.
/// Memory is kept from chunk to chunk, so a warm one allocates nothing.
class ChunkDictionary {
 public:
  explicit ChunkDictionary(std::uint64_t seed);

  /// The number of the entry whose bytes are `head` followed by `key`, put in if there is none. `key` alone tells
  /// entries apart.
  std::uint32_t intern(std::string_view head, std::string_view key);

  std::size_t count() const noexcept { return entries_.size(); }
  std::string_view bytes() const noexcept { return bytes_.view(); }
  void clear() noexcept;

 private:
  struct Entry {
    std::uint64_t hash;
    std::size_t at;  ///< Of the key, in bytes_.
    std::size_t size;
  };
  void grow_slots();

  std::uint64_t seed_;
  ByteBuffer bytes_;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> slots_;  ///< Entry number + 1, or 0; open addressing, a power of two.
};

}  // namespace pepe
