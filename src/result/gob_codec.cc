// HOT: once per result written.
#include "result/gob_codec.h"

#include <cstddef>
#include <string>
#include <vector>

#include "result/gob_types.h"
#include "result/gob_wire.h"
#include "result/header_block.h"

namespace pepe {
namespace {

// vegeta's own numbering: a file is the same to the byte.
constexpr std::int64_t kResultType = 64;
constexpr std::int64_t kTimeType = 65;
constexpr std::int64_t kSliceType = 66;
constexpr std::int64_t kHeaderType = 67;

/// Writes the fields of one struct: their numbers as distances, zero values left out by the caller.
class GobStruct {
 public:
  explicit GobStruct(std::string& out) : out_{out} {}

  /// Announces that the value of field `number` follows.
  std::string& field(std::int64_t number) {
    append_gob_uint(static_cast<std::uint64_t>(number - last_), out_);
    last_ = number;
    return out_;
  }
  void uint(std::int64_t number, std::uint64_t value) {
    if (value != 0) append_gob_uint(value, field(number));
  }
  void integer(std::int64_t number, std::int64_t value) {
    if (value != 0) append_gob_int(value, field(number));
  }
  void bytes(std::int64_t number, std::string_view value) {
    if (!value.empty()) append_gob_bytes(value, field(number));
  }
  void end() { out_ += '\0'; }

 private:
  std::string& out_;
  std::int64_t last_{-1};
};

void append_message(std::string_view content, std::string& out) { append_gob_bytes(content, out); }

// The part that every definition begins with, as field 0 of the definition of its kind.
void append_common(std::string_view name, std::int64_t id, GobStruct& definition) {
  GobStruct common{definition.field(0)};
  common.bytes(0, name);
  common.integer(1, id);
  common.end();
}

void append_result_fields(GobStruct& definition) {
  const GobField fields[] = {{"Attack", kGobString},   {"Seq", kGobUint},     {"Code", kGobUint},
                             {"Timestamp", kTimeType}, {"Latency", kGobInt},  {"BytesOut", kGobUint},
                             {"BytesIn", kGobUint},    {"Error", kGobString}, {"Body", kGobBytes},
                             {"Method", kGobString},   {"URL", kGobString},   {"Headers", kHeaderType}};
  std::string& out = definition.field(1);
  append_gob_uint(std::size(fields), out);
  for (const GobField& field : fields) {
    GobStruct entry{out};
    entry.bytes(0, field.name);
    entry.integer(1, field.type);
    entry.end();
  }
}

// One message that defines a type: `detail` writes what the kind needs beyond the common part.
template <class Detail>
void append_definition(GobType::Kind kind, std::string_view name, std::int64_t id, Detail detail, std::string& out) {
  std::string content;
  append_gob_int(-id, content);
  GobStruct wire_type{content};
  GobStruct definition{wire_type.field(static_cast<std::int64_t>(kind))};
  append_common(name, id, definition);
  detail(definition);
  definition.end();
  wire_type.end();
  append_message(content, out);
}

std::string make_definitions() {
  using Kind = GobType::Kind;
  std::string out;
  append_definition(Kind::kStruct, "Result", kResultType, append_result_fields, out);
  append_definition(
      Kind::kGobEncoder, "Time", kTimeType, [](GobStruct&) {}, out);
  append_definition(
      Kind::kMap, "Header", kHeaderType,
      [](GobStruct& map) {
        map.integer(1, kGobString);
        map.integer(2, kSliceType);
      },
      out);
  append_definition(
      Kind::kSlice, "", kSliceType, [](GobStruct& slice) { slice.integer(1, kGobString); }, out);
  return out;
}

void append_big_endian(std::uint64_t value, int bytes, std::string& out) {
  for (int i = bytes - 1; i >= 0; --i) out += static_cast<char>(value >> (8 * i));
}

void append_time(Timestamp time, std::string& out) {
  std::int64_t second = time.unix_nanos / kNanosPerSecond;
  std::int64_t nanos = time.unix_nanos % kNanosPerSecond;
  if (nanos < 0) {
    --second;
    nanos += kNanosPerSecond;
  }
  // -1 stands for UTC, so that no zone can be one minute west of it.
  const int zone = time.zone_minutes == 0 ? -1 : time.zone_minutes;
  append_gob_uint(15, out);
  out += '\1';
  append_big_endian(static_cast<std::uint64_t>(second + kYearOneToUnixSeconds), 8, out);
  append_big_endian(static_cast<std::uint64_t>(nanos), 4, out);
  append_big_endian(static_cast<std::uint64_t>(zone), 2, out);
}

void append_headers(std::span<const HeaderView> headers, std::vector<std::size_t>& order, std::string& out) {
  group_headers(headers, HeaderOrder::kByAppearance, order);
  const auto group_end = [&](std::size_t i) {
    const std::string_view name = headers[order[i]].name;
    while (i < order.size() && headers[order[i]].name == name) ++i;
    return i;
  };
  std::size_t names = 0;
  for (std::size_t i = 0; i < order.size(); i = group_end(i)) ++names;
  append_gob_uint(names, out);
  for (std::size_t i = 0; i < order.size();) {
    const std::size_t end = group_end(i);
    append_gob_bytes(headers[order[i]].name, out);
    append_gob_uint(end - i, out);
    for (; i < end; ++i) append_gob_bytes(headers[order[i]].value, out);
  }
}

class GobEncoder final : public Encoder {
 public:
  void encode(const Result& result, std::string& out) override {
    if (!defined_) out += make_definitions();
    defined_ = true;
    content_.clear();
    append_gob_int(kResultType, content_);
    GobStruct value{content_};
    value.bytes(0, result.attack);
    value.uint(1, result.seq);
    value.uint(2, result.code);
    if (result.timestamp.unix_nanos != kZeroTime) append_time(result.timestamp, value.field(3));
    value.integer(4, result.latency.count());
    value.uint(5, result.bytes_out);
    value.uint(6, result.bytes_in);
    value.bytes(7, result.error);
    value.bytes(8, result.body.value_or(std::string_view{}));
    value.bytes(9, result.method);
    value.bytes(10, result.url);
    if (result.has_headers) {
      if (!headers_.matches(result)) append_headers(result.headers, order_, headers_.store(result));
      value.field(11) += headers_.text();
    }
    value.end();
    append_message(content_, out);
  }

 private:
  bool defined_{false};
  std::string content_;  // Of the message at hand, whose length comes first.
  EncodedHeaders headers_;
  std::vector<std::size_t> order_;  // Room to group headers in.
};

}  // namespace

CodecEntry::Match detect_gob(std::string_view head, bool at_end) {
  // A file begins with a definition. Once that is read it is gob, and what is wrong behind it is the
  // decoder's to say.
  const std::unique_ptr<Decoder> decoder = make_gob_decoder({}, {});
  InputWindow window{head, 0, 0, at_end};
  Result result;
  const Expected<DecodeStatus> status = decoder->next(window, result);
  if (window.pos > 0) return CodecEntry::Match::kYes;
  return status && *status == DecodeStatus::kNeedMore ? CodecEntry::Match::kNeedMore : CodecEntry::Match::kNo;
}

std::unique_ptr<Encoder> make_gob_encoder() { return std::make_unique<GobEncoder>(); }

}  // namespace pepe
