// HOT: once per result read.
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "pepe/base/text.h"
#include "result/gob_codec.h"
#include "result/gob_types.h"
#include "result/gob_wire.h"
#include "result/probe.h"
#include "result/result_field.h"

namespace pepe {
namespace {

constexpr std::size_t kMaxDefinitionBytes = std::size_t{64} * 1024;
constexpr int kMinutesPerDay = 24 * 60;

// `type` 0: not a built-in one.
struct KnownField {
  std::string_view name;
  ResultField member;
  std::int64_t type;
};

constexpr KnownField kKnownFields[] = {
    {"Attack", ResultField::kAttack, kGobString}, {"Seq", ResultField::kSeq, kGobUint},
    {"Code", ResultField::kCode, kGobUint},       {"Timestamp", ResultField::kTimestamp, 0},
    {"Latency", ResultField::kLatency, kGobInt},  {"BytesOut", ResultField::kBytesOut, kGobUint},
    {"BytesIn", ResultField::kBytesIn, kGobUint}, {"Error", ResultField::kError, kGobString},
    {"Body", ResultField::kBody, kGobBytes},      {"Method", ResultField::kMethod, kGobString},
    {"URL", ResultField::kUrl, kGobString},       {"Headers", ResultField::kHeaders, 0},
};

/// How to read the values of one struct type, worked out once.
struct Plan {
  struct Field {
    ResultField member;
    std::int64_t type;
  };
  std::int64_t type{0};  // 0: none.
  std::vector<Field> fields;
};

bool is_string_lists(const GobType& type, const GobTypes& types) {
  const GobType* element = types.find(type.element);
  return type.kind == GobType::Kind::kMap && type.key == kGobString && element != nullptr &&
         element->kind == GobType::Kind::kSlice && element->element == kGobString;
}

bool type_fits(const KnownField& known, std::int64_t id, const GobTypes& types) {
  if (known.type != 0) return known.type == id;
  const GobType* type = types.find(id);
  if (type == nullptr) return false;
  return known.member == ResultField::kTimestamp ? type->opaque() : is_string_lists(*type, types);
}

Expected<Plan> make_plan(std::int64_t id, const GobTypes& types) {
  const GobType* type = types.find(id);
  if (type == nullptr) return Error{"a value of a type that was not defined"};
  if (type->kind != GobType::Kind::kStruct) return Error{"a value that is no struct, so no result"};
  Plan plan{id, {}};
  bool any_known = false;
  for (const GobField& field : type->fields) {
    ResultField member = ResultField::kUnknown;
    for (const KnownField& known : kKnownFields) {
      if (known.name != field.name) continue;
      if (!type_fits(known, field.type, types))
        return Error{fmt::format("field {} has another type than a result's", known.name)};
      member = known.member;
      any_known = true;
    }
    plan.fields.push_back({member, field.type});
  }
  if (!any_known) return Error{"a struct without any field of a result"};
  return plan;
}

std::uint64_t big_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (const char c : bytes) value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

// False: out of range.
bool to_unix_nanos(std::int64_t second, std::int64_t nanos, std::int64_t& out) {
  if (nanos >= kNanosPerSecond || __builtin_sub_overflow(second, kYearOneToUnixSeconds, &second)) return false;
  if (second < 0) {  // At the lower limit the whole seconds alone are out of range.
    ++second;
    nanos -= kNanosPerSecond;
  }
  return !__builtin_mul_overflow(second, kNanosPerSecond, &out) && !__builtin_add_overflow(out, nanos, &out);
}

Timestamp take_time(GobCursor& in) {
  const std::string_view bytes = in.take_bytes();
  const bool known = (bytes.size() == 15 && bytes[0] == 1) || (bytes.size() == 16 && bytes[0] == 2);
  if (!known) return in.fail("a time of an unknown form"), Timestamp{};
  const auto second = static_cast<std::int64_t>(big_endian(bytes.substr(1, 8)));
  const auto nanos = static_cast<std::int64_t>(big_endian(bytes.substr(9, 4)));
  const auto zone = static_cast<std::int16_t>(big_endian(bytes.substr(13, 2)));
  const std::int16_t minutes = zone == -1 ? std::int16_t{0} : zone;
  if (minutes <= -kMinutesPerDay || minutes >= kMinutesPerDay) in.fail("a time zone of over a day");
  if (second == 0 && nanos == 0) return {kZeroTime, minutes};
  std::int64_t unix_nanos = 0;
  if (!to_unix_nanos(second, nanos, unix_nanos)) in.fail("a time outside of 1678 to 2262");
  return {unix_nanos, minutes};
}

class GobDecoder final : public Decoder {
 public:
  explicit GobDecoder(DecodeOptions options) : options_{options} {}

  Expected<DecodeStatus> next(InputWindow& in, Result& out) override {
    for (;;) {
      const std::string_view rest = in.rest();
      if (rest.empty()) return in.at_end ? DecodeStatus::kEnd : DecodeStatus::kNeedMore;
      GobCursor head{rest};
      const std::uint64_t length = head.take_uint();
      if (!head.failed() && length == 0) return bad(in, "an empty record");
      const std::size_t content = head.used();
      const std::int64_t id = head.take_int();
      if (head.ran_out()) return cut(in, "the length of a record");
      if (head.failed()) return bad(in, head.why());
      if (const char* why = refuse_head(length, id)) return bad(in, why);
      if (length > rest.size() - content) return cut(in, fmt::format("a record of {} bytes", length));
      GobCursor message{rest.substr(content, static_cast<std::size_t>(length))};
      message.take_int();
      if (id < 0) {
        types_.define(-id, message);
        plan_.type = 0;
      } else if (Expected<void> decoded = decode(id, message, out); !decoded) {
        return bad(in, decoded.error().text());
      }
      if (message.failed()) return bad(in, message.why());
      in.pos += content + static_cast<std::size_t>(length);
      if (id > 0) return DecodeStatus::kResult;
    }
  }

 private:
  // Why a record that begins so cannot be one, before the rest of it is waited for.
  const char* refuse_head(std::uint64_t length, std::int64_t id) const {
    if (length > kMaxRecordBytes) return "a record of over 1 GiB";
    // The negative of a definition's number is that of its type; this one has none.
    if (id == std::numeric_limits<std::int64_t>::min()) return "a type number out of range";
    if (id > -kFirstGobType && id < kFirstGobType) return "a type number that stands for no result";
    if (id < 0 && length > kMaxDefinitionBytes) return "a type definition of over 64 KiB";
    if (id > 0 && id != plan_.type && types_.find(id) == nullptr) return "a value of a type that was not defined";
    return nullptr;
  }

  static Error bad(const InputWindow& in, std::string_view why) {
    return Error{fmt::format("gob: record at byte {}: {}", in.offset + in.pos, why)};
  }

  static Expected<DecodeStatus> cut(const InputWindow& in, std::string_view what) {
    if (!in.at_end) return DecodeStatus::kNeedMore;
    return bad(in, fmt::format("unexpected EOF: {} is cut after {} bytes", what, in.rest().size()));
  }

  Expected<void> decode(std::int64_t id, GobCursor& in, Result& out) {
    if (plan_.type != id) {
      Expected<Plan> plan = make_plan(id, types_);
      if (!plan) return std::move(plan).error();
      plan_ = *std::move(plan);
    }
    out = Result{};
    out.timestamp.unix_nanos = kZeroTime;
    for (std::int64_t field = in.take_field(-1); field >= 0; field = in.take_field(field)) {
      if (field >= static_cast<std::int64_t>(plan_.fields.size())) {
        in.fail("a field that its type does not have");
        break;
      }
      decode_field(plan_.fields[static_cast<std::size_t>(field)], in, out);
    }
    if (in.left() != 0) in.fail("bytes behind a value");
    return {};
  }

  void decode_field(const Plan::Field& field, GobCursor& in, Result& out) {
    switch (field.member) {
      case ResultField::kUnknown: types_.skip(field.type, in); break;
      case ResultField::kAttack: out.attack = in.take_bytes(); break;
      case ResultField::kSeq: out.seq = in.take_uint(); break;
      case ResultField::kCode: {
        const std::uint64_t code = in.take_uint();
        if (code > UINT16_MAX) in.fail("a code above 65535");
        out.code = static_cast<std::uint16_t>(code);
        break;
      }
      case ResultField::kTimestamp: out.timestamp = take_time(in); break;
      case ResultField::kLatency: out.latency = Nanos{in.take_int()}; break;
      case ResultField::kBytesOut: out.bytes_out = in.take_uint(); break;
      case ResultField::kBytesIn: out.bytes_in = in.take_uint(); break;
      case ResultField::kError: out.error = in.take_bytes(); break;
      case ResultField::kBody: out.body = in.take_bytes(); break;
      case ResultField::kMethod: out.method = in.take_bytes(); break;
      case ResultField::kUrl: out.url = in.take_bytes(); break;
      case ResultField::kHeaders:
        out.has_headers = true;
        if (options_.headers) {
          take_headers(in);
          out.headers = headers_;
        } else {
          types_.skip(field.type, in);
        }
        break;
    }
  }

  void take_headers(GobCursor& in) {
    headers_.clear();
    const std::uint64_t names = in.take_count();
    for (std::uint64_t i = 0; i < names && !in.failed(); ++i) {
      const std::string_view name = in.take_bytes();
      const std::uint64_t values = in.take_count();
      for (std::uint64_t j = 0; j < values && !in.failed(); ++j) headers_.push_back({name, in.take_bytes()});
    }
  }

  DecodeOptions options_;
  GobTypes types_;
  Plan plan_;  // For the type that the last value had.
  std::vector<HeaderView> headers_;
};

}  // namespace

// NOLINTNEXTLINE(performance-unnecessary-value-param): the registry's signature.
std::unique_ptr<Decoder> make_gob_decoder(DecoderEvents /*events*/, DecodeOptions options) {
  return std::make_unique<GobDecoder>(options);
}

}  // namespace pepe
