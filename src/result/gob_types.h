#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "result/gob_wire.h"

namespace pepe {

/// Ids of the types that need no definition.
enum GobBuiltin : std::int64_t {
  kGobBool = 1,
  kGobInt,
  kGobUint,
  kGobFloat,
  kGobBytes,
  kGobString,
  kGobComplex,
  kGobInterface,
};

/// A time is seconds since the year one, and nanoseconds.
inline constexpr std::int64_t kNanosPerSecond = 1'000'000'000;
inline constexpr std::int64_t kYearOneToUnixSeconds = 62'135'596'800;

/// Definitions number types from here on.
inline constexpr std::int64_t kFirstGobType = 64;

struct GobField {
  std::string name;  ///< Empty when it is longer than any name that is looked for.
  std::int64_t type{0};
};

struct GobType {
  /// In the order of a wire type's fields. The last three are opaque bytes.
  enum class Kind : std::uint8_t { kArray, kSlice, kStruct, kMap, kGobEncoder, kBinary, kText };
  Kind kind{Kind::kArray};
  std::int64_t key{0};           ///< Of a map.
  std::int64_t element{0};       ///< Of an array, slice or map.
  std::vector<GobField> fields;  ///< Of a struct.

  bool opaque() const noexcept { return kind >= Kind::kGobEncoder; }
};

/// The types that a stream defines, in any order and under any ids. Bounded: at most 256 types of 256 fields.
class GobTypes {
 public:
  /// Reads the definition of type `id`, which replaces an older one: in gob streams put one after the other
  /// each begins with its own. The cursor fails when it is none.
  void define(std::int64_t id, GobCursor& in);

  /// nullptr: not defined, or built in.
  const GobType* find(std::int64_t id) const;

  /// Reads over a value of type `id`.
  void skip(std::int64_t id, GobCursor& in) const { skip(id, in, 0); }

 private:
  void skip(std::int64_t id, GobCursor& in, int depth) const;
  void skip_composite(const GobType& type, GobCursor& in, int depth) const;

  std::unordered_map<std::int64_t, GobType> types_;
};

}  // namespace pepe
