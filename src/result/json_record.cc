// HOT: once per result read.
#include "result/json_record.h"

#ifdef __SSE2__
#define RAPIDJSON_SSE2
#endif
#include <fmt/format.h>
#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "result/base64.h"
#include "result/result_field.h"

namespace pepe {
namespace {

namespace json = rapidjson;

/// Nesting of what is skipped; the reader recurses.
constexpr int kMaxDepth = 64;

/// The reader loads 16 bytes at a time, the last of them from beyond the end.
constexpr std::size_t kPadding = 16;

struct KnownMember {
  std::string_view name;
  ResultField member;
};

constexpr KnownMember kMembers[] = {
    {"attack", ResultField::kAttack},       {"seq", ResultField::kSeq},         {"code", ResultField::kCode},
    {"timestamp", ResultField::kTimestamp}, {"latency", ResultField::kLatency}, {"bytes_out", ResultField::kBytesOut},
    {"bytes_in", ResultField::kBytesIn},    {"error", ResultField::kError},     {"body", ResultField::kBody},
    {"method", ResultField::kMethod},       {"url", ResultField::kUrl},         {"headers", ResultField::kHeaders},
};

ResultField find_member(std::string_view name) {
  for (const KnownMember& known : kMembers) {
    if (known.name == name) return known.member;
  }
  return ResultField::kUnknown;
}

std::string_view name_of(ResultField member) {
  return member == ResultField::kUnknown ? "?" : kMembers[static_cast<std::size_t>(member) - 1].name;
}

}  // namespace

/// Takes the events of the reader. A method that returns false stops it; `why` says then what was wrong.
struct JsonRecord::Handler {
  JsonRecord& record;
  Result& out;
  int depth{0};
  ResultField member{ResultField::kUnknown};
  std::string_view header_name;
  std::string why;

  bool refuse(std::string_view what) {
    why = depth == 0 ? "not an object" : fmt::format("field {}: {}", name_of(member), what);
    return false;
  }
  bool skipping() const { return depth > 0 && member == ResultField::kUnknown; }

  bool Null() {
    if (depth == 0) return refuse({});
    if (depth == 3 && member == ResultField::kHeaders) record.headers_.push_back({header_name, {}});
    return true;
  }
  bool Bool(bool /*value*/) { return skipping() || refuse("want no truth value"); }
  bool Double(double /*value*/) { return skipping() || refuse("want no fraction"); }
  bool Int(int value) { return integer(value); }
  bool Uint(unsigned value) { return natural(value); }
  bool Int64(std::int64_t value) { return integer(value); }
  bool Uint64(std::uint64_t value) { return natural(value); }
  bool RawNumber(const char* /*text*/, json::SizeType /*length*/, bool /*copy*/) { return refuse("want no number"); }

  // The reader reports every number that is not negative through Uint or Uint64.
  bool integer(std::int64_t value) {
    if (skipping()) return true;
    if (depth != 1 || member != ResultField::kLatency) return refuse("want no negative number");
    out.latency = Nanos{value};
    return true;
  }

  bool natural(std::uint64_t value) {
    if (skipping()) return true;
    if (depth != 1) return refuse("want no number");
    switch (member) {
      case ResultField::kSeq: out.seq = value; return true;
      case ResultField::kBytesOut: out.bytes_out = value; return true;
      case ResultField::kBytesIn: out.bytes_in = value; return true;
      case ResultField::kCode:
        out.code = static_cast<std::uint16_t>(value);
        return value <= UINT16_MAX || refuse("above 65535");
      case ResultField::kLatency:
        out.latency = Nanos{static_cast<std::int64_t>(value)};
        return value <= INT64_MAX || refuse("beyond 64 bits");
      default: return refuse("want no number");
    }
  }

  bool String(const char* text, json::SizeType length, bool /*copy*/) {
    const std::string_view value{text, length};
    if (skipping()) return true;
    if (depth == 3) return record.headers_.push_back({header_name, value}), true;
    if (depth != 1) return refuse("want no text");
    switch (member) {
      case ResultField::kAttack: out.attack = value; return true;
      case ResultField::kError: out.error = value; return true;
      case ResultField::kMethod: out.method = value; return true;
      case ResultField::kUrl: out.url = value; return true;
      case ResultField::kTimestamp: return timestamp(value);
      case ResultField::kBody: return body(value);
      default: return refuse("want no text");
    }
  }

  bool timestamp(std::string_view text) {
    const Expected<Timestamp> time = record.time_.parse(text);
    if (!time) return refuse(time.error().text());
    out.timestamp = *time;
    return true;
  }

  bool body(std::string_view text) {
    record.body_.clear();
    const Expected<void> decoded = record.options_.bodies ? append_from_base64(text, record.body_) : check_base64(text);
    if (!decoded) return refuse(decoded.error().text());
    if (record.options_.bodies) out.body = record.body_;
    return true;
  }

  bool StartObject() {
    if (++depth > kMaxDepth) return refuse("nested over 64 deep");
    if (depth == 1 || skipping()) return true;
    if (depth > 2 || member != ResultField::kHeaders) return refuse("want no object");
    out.has_headers = true;
    record.headers_.clear();
    return true;
  }
  bool Key(const char* text, json::SizeType length, bool /*copy*/) {
    if (depth == 1) member = find_member({text, length});
    if (depth == 2 && member == ResultField::kHeaders) header_name = {text, length};
    return true;
  }
  bool EndObject(json::SizeType /*members*/) { return --depth, true; }
  bool StartArray() {
    if (depth == 0) return refuse({});
    if (++depth > kMaxDepth) return refuse("nested over 64 deep");
    return skipping() || (depth == 3 && member == ResultField::kHeaders) || refuse("want no array");
  }
  bool EndArray(json::SizeType /*elements*/) { return --depth, true; }
};

Expected<void> JsonRecord::parse(std::string_view line, Result& out) {
  line_ = line;
  line_.append(kPadding, '\0');
  headers_.clear();
  out = Result{};
  out.timestamp.unix_nanos = kZeroTime;
  Handler handler{*this, out, 0, ResultField::kUnknown, {}, {}};
  json::InsituStringStream stream{line_.data()};
  json::Reader reader;
  const json::ParseResult result = reader.Parse<json::kParseInsituFlag>(stream, handler);
  if (!handler.why.empty()) return Error{std::move(handler.why)};
  if (result.IsError()) {
    std::string_view reason = json::GetParseError_En(result.Code());
    if (reason.ends_with('.')) reason.remove_suffix(1);
    return Error{fmt::format("{} (column {})", reason, result.Offset() + 1)};
  }
  // The reader takes a NUL for the end of its input.
  if (stream.Tell() != line.size()) return Error{fmt::format("a NUL byte (column {})", stream.Tell() + 1)};
  if (options_.headers) out.headers = headers_;
  return {};
}

}  // namespace pepe
