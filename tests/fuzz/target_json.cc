#include <cstddef>
#include <cstdint>
#include <string>

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "fuzz/target_support.h"
#include "pepe/base/check.h"
#include "pepe/base/control.h"
#include "pepe/base/text.h"
#include "target/formats.h"

namespace {

using Writer = rapidjson::Writer<rapidjson::StringBuffer>;

void put(Writer& writer, const std::string& text) {
  writer.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
}

std::string print(const pepe::Target& target) {
  rapidjson::StringBuffer buffer;
  Writer writer{buffer};
  writer.StartObject();
  writer.Key("method");
  put(writer, target.method);
  writer.Key("url");
  put(writer, target.url);
  writer.Key("header");
  writer.StartObject();
  for (const pepe::HeaderField& field : target.headers) {
    put(writer, field.name);
    writer.StartArray();
    put(writer, field.value);
    writer.EndArray();
  }
  writer.EndObject();
  writer.Key("body");
  std::string body;
  if (target.body) pepe::append_base64(*target.body, body);
  put(writer, body);
  writer.EndObject();
  return std::string{buffer.GetString(), buffer.GetSize()} + "\n";
}

}  // namespace

/// What parses prints back to itself, and a list reads the same however it comes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  const auto got = pepe::fuzz::read_list(pepe::make_json_targeter, text, size + 1);
  std::string printed;
  for (const pepe::Target& target : got.targets) {
    printed += print(target);
    PEPE_CHECK(!pepe::has_control(target.method) && !pepe::has_control(target.url));
    for (const pepe::HeaderField& field : target.headers)
      PEPE_CHECK(!pepe::has_control(field.name) && pepe::is_header_value(field.value));
  }
  const auto again = pepe::fuzz::read_list(pepe::make_json_targeter, printed, printed.size() + 1);
  PEPE_CHECK(again.error.empty());
  PEPE_CHECK(pepe::fuzz::same(got.targets, again.targets));

  const auto pieces = pepe::fuzz::read_list(pepe::make_json_targeter, text, 3);
  PEPE_CHECK(pieces.error == got.error);
  PEPE_CHECK(pepe::fuzz::same(got.targets, pieces.targets));
  return 0;
}
