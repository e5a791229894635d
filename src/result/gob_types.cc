#include "result/gob_types.h"

#include <string_view>
#include <utility>

namespace pepe {
namespace {

constexpr std::size_t kMaxTypes = 256;
constexpr std::size_t kMaxFields = 256;
constexpr std::size_t kMaxName = 64;
constexpr int kMaxDepth = 32;

void skip_common(GobCursor& in) {
  for (std::int64_t field = in.take_field(-1); field >= 0; field = in.take_field(field)) {
    switch (field) {
      case 0: in.take_bytes(); break;
      case 1: in.take_int(); break;
      default: in.fail("a type definition with unknown fields"); break;
    }
  }
}

GobField take_struct_field(GobCursor& in) {
  GobField result;
  for (std::int64_t field = in.take_field(-1); field >= 0; field = in.take_field(field)) {
    switch (field) {
      case 0: {
        const std::string_view name = in.take_bytes();
        if (name.size() <= kMaxName) result.name = name;
        break;
      }
      case 1: result.type = in.take_int(); break;
      default: in.fail("a type definition with unknown fields"); break;
    }
  }
  return result;
}

void take_struct_fields(GobCursor& in, GobType& type) {
  const std::uint64_t count = in.take_count();
  if (count > kMaxFields) in.fail("a type of over 256 fields");
  for (std::uint64_t i = 0; i < count && !in.failed(); ++i) type.fields.push_back(take_struct_field(in));
}

// Field `field` (the common part apart) of the definition of a type whose kind is known.
void take_detail(std::int64_t field, GobCursor& in, GobType& type) {
  using Kind = GobType::Kind;
  if (type.kind == Kind::kStruct && field == 1) {
    take_struct_fields(in, type);
  } else if (type.kind == Kind::kMap && field == 1) {
    type.key = in.take_int();
  } else if ((type.kind == Kind::kMap && field == 2) || (type.kind == Kind::kSlice && field == 1) ||
             (type.kind == Kind::kArray && field == 1)) {
    type.element = in.take_int();
  } else if (type.kind == Kind::kArray && field == 2) {
    in.take_int();  // The length, which every value states as well.
  } else {
    in.fail("a type definition with unknown fields");
  }
}

}  // namespace

void GobTypes::define(std::int64_t id, GobCursor& in) {
  const std::int64_t kind = in.take_field(-1);
  if (kind < 0 || kind > static_cast<std::int64_t>(GobType::Kind::kText))
    return in.fail("a type definition of an unknown kind");
  GobType type;
  type.kind = static_cast<GobType::Kind>(kind);
  for (std::int64_t field = in.take_field(-1); field >= 0; field = in.take_field(field)) {
    if (field == 0) {
      skip_common(in);
    } else {
      take_detail(field, in, type);
    }
  }
  if (in.take_uint() != 0 || in.left() != 0) in.fail("bytes behind a type definition");
  if (in.failed()) return;
  if (types_.size() >= kMaxTypes && !types_.contains(id)) return in.fail("over 256 types");
  types_[id] = std::move(type);
}

const GobType* GobTypes::find(std::int64_t id) const {
  const auto found = types_.find(id);
  return found == types_.end() ? nullptr : &found->second;
}

void GobTypes::skip(std::int64_t id, GobCursor& in, int depth) const {
  if (depth > kMaxDepth) return in.fail("values nested over 32 deep");
  switch (id) {
    case kGobBool:
    case kGobInt:
    case kGobUint:
    case kGobFloat: in.take_uint(); return;
    case kGobBytes:
    case kGobString: in.take_bytes(); return;
    case kGobComplex: in.take_uint(), in.take_uint(); return;
    case kGobInterface: return in.fail("an interface value, whose length is not known");
    default: break;
  }
  const GobType* type = find(id);
  if (type == nullptr) return in.fail("a value of a type that was not defined");
  skip_composite(*type, in, depth + 1);
}

void GobTypes::skip_composite(const GobType& type, GobCursor& in, int depth) const {
  if (type.opaque()) {
    in.take_bytes();
    return;
  }
  if (type.kind == GobType::Kind::kStruct) {
    for (std::int64_t field = in.take_field(-1); field >= 0; field = in.take_field(field)) {
      if (field >= static_cast<std::int64_t>(type.fields.size())) return in.fail("a field that its type does not have");
      skip(type.fields[static_cast<std::size_t>(field)].type, in, depth);
    }
    return;
  }
  const std::uint64_t count = in.take_count();
  for (std::uint64_t i = 0; i < count && !in.failed(); ++i) {
    if (type.kind == GobType::Kind::kMap) skip(type.key, in, depth);
    skip(type.element, in, depth);
  }
}

}  // namespace pepe
