#include "result/chunk_dictionary.h"

#include <algorithm>

#include "result/hash.h"

namespace pepe {
namespace {

constexpr std::size_t kFirstSlots = 64;
// What a chunk of unusual entries has made grow is given back: a stream of ordinary ones never needs it again.
constexpr std::size_t kKeptBytes = std::size_t{1} << 20;
constexpr std::size_t kKeptSlots = std::size_t{1} << 16;

}  // namespace

ChunkDictionary::ChunkDictionary(std::uint64_t seed) : seed_{seed}, slots_(kFirstSlots, 0) {}

std::uint32_t ChunkDictionary::intern(std::string_view head, std::string_view key) {
  const std::uint64_t hash = hash_bytes(key, seed_);
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash & mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
    const Entry& entry = entries_[slots_[slot] - 1];
    if (entry.hash == hash && bytes_.view().substr(entry.at, entry.size) == key) return slots_[slot] - 1;
  }
  // All that may fail comes first: an entry is there as a whole or not at all.
  static_cast<void>(bytes_.room(head.size() + key.size()));
  entries_.push_back({.hash = hash, .at = bytes_.size() + head.size(), .size = key.size()});
  bytes_.append(head);
  bytes_.append(key);
  const auto number = static_cast<std::uint32_t>(entries_.size());
  slots_[slot] = number;
  if (entries_.size() * 2 > slots_.size()) grow_slots();
  return number - 1;
}

void ChunkDictionary::grow_slots() {
  std::vector<std::uint32_t> slots(slots_.size() * 2, 0);
  const std::size_t mask = slots.size() - 1;
  for (std::uint32_t number = 1; number <= entries_.size(); ++number) {
    std::size_t slot = entries_[number - 1].hash & mask;
    while (slots[slot] != 0) slot = (slot + 1) & mask;
    slots[slot] = number;
  }
  slots_ = std::move(slots);
}

void ChunkDictionary::clear() noexcept {
  bytes_.clear(kKeptBytes);
  entries_.clear();
  if (slots_.size() > kKeptSlots) {
    slots_.resize(kFirstSlots);
    slots_.shrink_to_fit();
    entries_.shrink_to_fit();
  }
  std::fill(slots_.begin(), slots_.end(), 0U);
}

}  // namespace pepe
