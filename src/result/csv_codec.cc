// HOT: once per result written.
#include "result/csv_codec.h"

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "pepe/base/text.h"
#include "result/csv_field.h"
#include "result/header_block.h"
#include "result/number_text.h"
#include "result/probe.h"

namespace pepe {
namespace {

// The white space outside ASCII, in UTF-8.
constexpr std::string_view kWideSpaces[] = {"\u0085", "\u00a0", "\u1680", "\u2000", "\u2001", "\u2002", "\u2003",
                                            "\u2004", "\u2005", "\u2006", "\u2007", "\u2008", "\u2009", "\u200a",
                                            "\u2028", "\u2029", "\u202f", "\u205f", "\u3000"};

constexpr std::array<bool, 256> make_special_table() {
  std::array<bool, 256> table{};
  for (const char c : std::string_view{",\"\r\n"}) table[static_cast<unsigned char>(c)] = true;
  return table;
}

constexpr auto kSpecialBytes = make_special_table();

bool needs_quotes(std::string_view field) {
  if (field.empty()) return false;
  bool special = false;
  for (const char c : field) special |= kSpecialBytes[static_cast<unsigned char>(c)];
  return special || field == "\\." || leading_space(field) > 0;
}

void append_field(std::string_view field, std::string& out) {
  if (!needs_quotes(field)) {
    out += field;
    return;
  }
  out += '"';
  for (const char c : field) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

class CsvEncoder final : public Encoder {
 public:
  void encode(const Result& result, std::string& out) override {
    const auto number = [&out](auto value) {
      append_number(value, out);
      out += ',';
    };
    const auto text = [&out](std::string_view value) {
      append_field(value, out);
      out += ',';
    };
    number(result.timestamp.unix_nanos);
    number(result.code);
    number(result.latency.count());
    number(result.bytes_out);
    number(result.bytes_in);
    text(result.error);
    append_base64(result.body.value_or(std::string_view{}), out);
    out += ',';
    text(result.attack);
    number(result.seq);
    text(result.method);
    text(result.url);
    if (!headers_.matches(result)) encode_headers(result);
    out += headers_.text();
    out += '\n';
  }

 private:
  void encode_headers(const Result& result) {
    std::string& text = headers_.store(result);
    if (!result.has_headers) return;
    block_.clear();
    append_header_block(result.headers, order_, block_);
    append_base64(block_, text);
  }

  EncodedHeaders headers_;
  std::string block_;
  std::vector<std::size_t> order_;
};

}  // namespace

std::size_t leading_space(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size()) {
    const char c = text[length];
    if (c == ' ' || (c >= '\t' && c <= '\r')) {
      ++length;
      continue;
    }
    if (static_cast<unsigned char>(c) < 0x80) break;
    std::size_t wide = 0;
    for (const std::string_view space : kWideSpaces) {
      if (text.substr(length).starts_with(space)) wide = space.size();
    }
    if (wide == 0) break;
    length += wide;
  }
  return length;
}

CodecEntry::Match detect_csv(std::string_view head, bool at_end) {
  return probe(*make_csv_decoder({}, {}), head, at_end);
}

std::unique_ptr<Encoder> make_csv_encoder() { return std::make_unique<CsvEncoder>(); }

}  // namespace pepe
