#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include <rapidjson/reader.h>

#include "fuzz/input.h"
#include "pepe/base/check.h"
#include "pepe/base/json.h"
#include "pepe/base/text.h"

namespace {

bool holds_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; });
}

// What is shown drives no terminal, and is no longer than it may be.
void check_shown(std::string_view text) {
  const std::string quoted = pepe::quote(text);
  PEPE_CHECK(!holds_control(quoted) && quoted.find('\x7F') == std::string::npos && quoted.front() == '"' &&
             quoted.back() == '"');
  PEPE_CHECK(!holds_control(pepe::printable(text)));
  PEPE_CHECK(pepe::printable(text, 8).size() <= 8 * 10 + 3);
}

struct OneString : rapidjson::BaseReaderHandler<rapidjson::UTF8<>, OneString> {
  bool String(const char* at, rapidjson::SizeType size, bool) { return text.assign(at, size), true; }
  bool Default() { return false; }
  std::string text;
};

// JSON says what was there, but for bytes that are no UTF-8, and nothing in it means something to HTML.
void check_json(std::string_view text) {
  std::string json;
  pepe::append_json_string(text, json);
  PEPE_CHECK(json.find_first_of("<>&") == std::string::npos && !holds_control(json));
  rapidjson::Reader reader;
  rapidjson::MemoryStream stream{json.data(), json.size()};
  OneString read;
  PEPE_CHECK(reader.Parse<rapidjson::kParseValidateEncodingFlag>(stream, read));
  if (read.text != text) {
    PEPE_CHECK(read.text.find("\xEF\xBF\xBD") != std::string::npos);
    return;
  }
  std::string again;
  pepe::append_json_string(read.text, again);
  PEPE_CHECK(again == json);
}

void check_base64(std::string_view text) {
  std::string encoded;
  pepe::append_base64(text, encoded);
  const auto same = pepe::decode_base64(encoded);
  PEPE_CHECK(same && *same == text);
  const auto decoded = pepe::decode_base64(text);
  if (!decoded) return;
  encoded.clear();
  pepe::append_base64(*decoded, encoded);
  const auto again = pepe::decode_base64(encoded);
  PEPE_CHECK(again && *again == *decoded);
}

}  // namespace

/// Any bytes can be shown, written as JSON and in base64, and come back from them.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = pepe::fuzz::Input{data, size}.rest();
  check_shown(text);
  check_json(text);
  check_base64(text);
  const std::string_view trimmed = pepe::trim(text);
  PEPE_CHECK(pepe::trim(trimmed) == trimmed && text.find(trimmed) != std::string_view::npos);
  return 0;
}
