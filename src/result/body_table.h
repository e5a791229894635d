#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pepe {

/// A body that the stream holds or is about to hold.
class StoredBody {
 public:
  std::uint64_t id{0};
  std::string bytes;
  std::uint64_t hash{0};
  std::uint32_t users{0};     ///< BodyRefs, which keep it in the table.
  bool in_stream{false};      ///< It is in a chunk: taken already, or open.
  bool in_open_chunk{false};  ///< It is copied when the open chunk is taken, so it has to stay until then.
  StoredBody* next_in_bucket{nullptr};
  StoredBody* newer{nullptr};
  StoredBody* older{nullptr};
};

/// The bodies that a writer can refer to, found by content; bounded in bytes, the least recently used go first.
class BodyTable {
 public:
  BodyTable(std::size_t max_bytes, std::uint64_t seed);
  ~BodyTable();
  BodyTable(const BodyTable&) = delete;
  BodyTable& operator=(const BodyTable&) = delete;

  /// The body equal to `bytes`, with an id made by `next_id` (then counted up) when it is new. nullptr: too large, or
  /// all else is in use. Ids of bodies that had to go and are in the stream are appended to `dropped`.
  StoredBody* find_or_store(std::string_view bytes, std::uint64_t& next_id, std::vector<std::uint64_t>& dropped);

 private:
  bool make_room(std::size_t cost, std::vector<std::uint64_t>& dropped);
  void evict(StoredBody* body, std::vector<std::uint64_t>& dropped);
  void grow_buckets();
  void link_newest(StoredBody* body) noexcept;
  void unlink(StoredBody* body) noexcept;
  StoredBody*& bucket(std::uint64_t hash) noexcept { return buckets_[hash & (buckets_.size() - 1)]; }

  std::size_t max_bytes_;
  std::uint64_t seed_;
  std::size_t used_bytes_{0};
  std::size_t count_{0};
  std::vector<StoredBody*> buckets_;  ///< Chains of owned bodies; a power of two.
  StoredBody* newest_{nullptr};
  StoredBody* oldest_{nullptr};
  std::unique_ptr<StoredBody> spare_;  ///< The last one that went: bodies of one size after another allocate nothing.
};

}  // namespace pepe
