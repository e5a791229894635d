// HOT: once per result written.
#include "result/json_codec.h"

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "pepe/base/json.h"
#include "pepe/base/text.h"
#include "result/header_block.h"
#include "result/number_text.h"
#include "result/probe.h"
#include "result/time_text.h"

namespace pepe {
namespace {

constexpr std::array<bool, 256> make_plain_table() {
  std::array<bool, 256> table{};
  for (std::size_t c = 0x20; c < 0x80; ++c) table[c] = true;
  for (const char c : std::string_view{"\"\\<>&"}) table[static_cast<unsigned char>(c)] = false;
  return table;
}

constexpr auto kPlainBytes = make_plain_table();

// As append_json_string() does; most strings need no escape, which is found out at a glance.
void append_text(std::string_view text, std::string& out) {
  bool plain = true;
  for (const char c : text) plain &= kPlainBytes[static_cast<unsigned char>(c)];
  if (!plain) return append_json_string(text, out);
  out += '"';
  out += text;
  out += '"';
}

// Appends {"Name":["value","value"],...}.
void append_headers(std::span<const HeaderView> headers, std::vector<std::size_t>& order, std::string& out) {
  group_headers(headers, HeaderOrder::kByAppearance, order);
  out += '{';
  for (std::size_t i = 0; i < order.size(); ++i) {
    const HeaderView& header = headers[order[i]];
    const bool repeats = i > 0 && headers[order[i - 1]].name == header.name;
    if (!repeats) {
      out += i > 0 ? "]," : "";
      append_text(header.name, out);
      out += ":[";
    } else {
      out += ',';
    }
    append_text(header.value, out);
  }
  out += order.empty() ? "}" : "]}";
}

class JsonEncoder final : public Encoder {
 public:
  void encode(const Result& result, std::string& out) override {
    out += "{\"attack\":";
    append_text(result.attack, out);
    out += ",\"seq\":";
    append_number(result.seq, out);
    out += ",\"code\":";
    append_number(result.code, out);
    out += ",\"timestamp\":\"";
    time_.append(result.timestamp, out);
    out += "\",\"latency\":";
    append_number(result.latency.count(), out);
    out += ",\"bytes_out\":";
    append_number(result.bytes_out, out);
    out += ",\"bytes_in\":";
    append_number(result.bytes_in, out);
    out += ",\"error\":";
    append_text(result.error, out);
    append_body(result.body, out);
    out += ",\"method\":";
    append_text(result.method, out);
    out += ",\"url\":";
    append_text(result.url, out);
    out += ",\"headers\":";
    if (!headers_.matches(result)) encode_headers(result);
    out += headers_.text();
    out += "}\n";
  }

 private:
  static void append_body(const std::optional<std::string_view>& body, std::string& out) {
    if (!body) {
      out += ",\"body\":null";
      return;
    }
    out += ",\"body\":\"";
    append_base64(*body, out);
    out += '"';
  }

  void encode_headers(const Result& result) {
    std::string& text = headers_.store(result);
    if (result.has_headers) {
      append_headers(result.headers, order_, text);
    } else {
      text = "null";
    }
  }

  TimestampWriter time_;
  EncodedHeaders headers_;
  std::vector<std::size_t> order_;  // Room to group headers in.
};

}  // namespace

CodecEntry::Match detect_json(std::string_view head, bool at_end) {
  return probe(*make_json_decoder({}, {}), head, at_end);
}

std::unique_ptr<Encoder> make_json_encoder() { return std::make_unique<JsonEncoder>(); }

}  // namespace pepe
