// HOT: once per result read.
#include "result/json_line.h"

#include <cstdint>

#include "result/base64.h"
#include "result/json_cursor.h"

namespace pepe {

bool JsonLine::read(std::string_view line, Result& out) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  out = Result{};
  JsonCursor in{line, unescaped_};
  if (!read_fields(in, out)) return false;
  // The headers come last: they are all that is left but the brace that closes the line.
  std::string_view headers = in.rest();
  if (!headers.ends_with('}')) return false;
  headers.remove_suffix(1);
  return read_headers(headers, out);
}

bool JsonLine::read_fields(JsonCursor& in, Result& out) {
  std::uint64_t code = 0;
  std::uint64_t latency = 0;
  const bool fits = in.take(R"({"attack":")") && in.take_text(out.attack) &&  //
                    in.take(R"(,"seq":)") && in.take_natural(out.seq) &&      //
                    in.take(R"(,"code":)") && in.take_natural(code) &&        //
                    in.take(R"(,"timestamp":")") && read_timestamp(in, out.timestamp) && in.take(R"(,"latency":)") &&
                    in.take_natural(latency) && in.take(R"(,"bytes_out":)") && in.take_natural(out.bytes_out) &&
                    in.take(R"(,"bytes_in":)") && in.take_natural(out.bytes_in) && in.take(R"(,"error":")") &&
                    in.take_text(out.error) && in.take(R"(,"body":)") && read_body(in, out) &&  //
                    in.take(R"(,"method":")") && in.take_text(out.method) &&                    //
                    in.take(R"(,"url":")") && in.take_text(out.url) &&                          //
                    in.take(R"(,"headers":)");
  if (!fits || code > UINT16_MAX || latency > INT64_MAX) return false;
  out.code = static_cast<std::uint16_t>(code);
  out.latency = Nanos{static_cast<std::int64_t>(latency)};
  return true;
}

bool JsonLine::read_timestamp(JsonCursor& in, Timestamp& out) {
  std::string_view text;
  if (!in.take_text(text)) return false;
  const Expected<Timestamp> time = time_.parse(text);
  if (time) out = *time;
  return time.has_value();
}

bool JsonLine::read_body(JsonCursor& in, Result& out) {
  if (in.take("null")) return true;
  std::string_view text;
  if (!in.take("\"") || !in.take_text(text)) return false;
  if (!options_.bodies) return check_base64(text).has_value();
  body_.clear();
  if (!append_from_base64(text, body_)) return false;
  out.body = body_;
  return true;
}

bool JsonLine::read_headers(std::string_view text, Result& out) {
  if (text == "null") return true;
  if (text.empty()) return false;
  if (text != headers_text_) {
    headers_text_ = text;
    if (!parse_headers()) {
      headers_text_.clear();
      return false;
    }
  }
  out.has_headers = true;
  if (options_.headers) out.headers = headers_;
  return true;
}

bool JsonLine::parse_headers() {
  headers_.clear();
  JsonCursor in{headers_text_, headers_unescaped_};
  if (in.take("{}")) return in.rest().empty();
  if (!in.take("{\"")) return false;
  do {
    HeaderView header;
    if (!in.take_text(header.name) || !in.take(":[\"")) return false;
    do {
      if (!in.take_text(header.value)) return false;
      headers_.push_back(header);
    } while (in.take(",\""));
    if (!in.take("]")) return false;
  } while (in.take(",\""));
  return in.take("}") && in.rest().empty();
}

}  // namespace pepe
