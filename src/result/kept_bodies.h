#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace pepe {

/// The bodies that a reader keeps for later chunks: those that the writers of the current run may still refer to.
class KeptBodies {
 public:
  /// Forgets the bodies of any other run.
  void enter_run(std::uint64_t run);
  /// Nothing is kept beyond kMaxKeptBodyBytes.
  void keep(std::uint64_t writer, std::uint64_t id, std::string_view bytes);
  void drop(std::uint64_t writer, std::uint64_t id);
  /// nullptr: not kept. Valid until the body is dropped or kept anew.
  const std::string* find(std::uint64_t writer, std::uint64_t id) const;
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  struct Key {
    std::uint64_t writer;
    std::uint64_t id;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const noexcept {
      return static_cast<std::size_t>((key.id ^ (key.writer << 40)) * 0x9E3779B97F4A7C15U);
    }
  };

  std::uint64_t run_{0};
  std::size_t bytes_{0};
  std::unordered_map<Key, std::string, KeyHash> bodies_;
};

}  // namespace pepe
