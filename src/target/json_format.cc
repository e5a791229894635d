#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include "pepe/base/control.h"
#include "pepe/base/text.h"
#include "pepe/target/url.h"
#include "target/formats.h"
#include "target/line_reader.h"
#include "target/list_targeter.h"

namespace pepe {
namespace {

constexpr std::size_t kLongestLine = std::size_t{256} << 20;

constexpr std::string_view kWant =
    R"(want one object a line, such as {"method": "GET", "url": "http://127.0.0.1:8080/"})";

enum class Field { kUnknown, kMethod, kUrl, kBody, kHeader };

struct FieldName {
  std::string_view name;
  Field field;
};

constexpr FieldName kFields[] = {
    {"method", Field::kMethod}, {"url", Field::kUrl}, {"body", Field::kBody}, {"header", Field::kHeader}};

enum class Value { kString, kNull, kOther, kObject, kList };

/// Takes the events of one line's object and makes a Target of them. `fault` says why it stopped the parser.
class TargetHandler : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, TargetHandler> {
 public:
  using SizeType = rapidjson::SizeType;

  explicit TargetHandler(const TargetDefaults& defaults) {
    target.headers = defaults.headers, target.body = defaults.body;
  }

  Target target;
  std::string fault;
  std::vector<std::string> unknown;  ///< Names of fields that were skipped; a few at most.

  // Called by the parser, in the order of the text. Every other kind of value ends in Default().
  bool Default() { return value(Value::kOther, {}); }
  bool RawNumber(const char*, SizeType, bool) { return Default(); }
  bool Null() { return value(Value::kNull, {}); }
  bool String(const char* text, SizeType length, bool) { return value(Value::kString, {text, length}); }
  bool StartObject() { return value(Value::kObject, {}); }
  bool StartArray() { return value(Value::kList, {}); }
  bool EndObject(SizeType) { return end(); }
  bool EndArray(SizeType) { return end(); }
  bool Key(const char* text, SizeType length, bool) { return key({text, length}); }

 private:
  bool key(std::string_view name);
  bool value(Value kind, std::string_view text);
  bool field_value(Value kind, std::string_view text);
  bool header_value(Value kind, std::string_view text);
  bool end();
  bool fail(std::string text) { return fault = std::move(text), false; }

  // 0: before the object; 1: among its fields; 2: among the names of "header"; 3: in the list of one name.
  int level_{0};
  std::size_t skipped_{0};  // how deep within the value of an unknown field
  Field field_{Field::kUnknown};
  std::string header_name_;
};

bool TargetHandler::key(std::string_view name) {
  if (skipped_ > 0) return true;
  if (level_ == 2) return header_name_ = name, true;
  const auto* const known =
      std::find_if(std::begin(kFields), std::end(kFields), [name](const FieldName& row) { return row.name == name; });
  const bool found = known != std::end(kFields);
  field_ = found ? known->field : Field::kUnknown;
  constexpr std::size_t kMostUnknown = 8;
  if (!found && unknown.size() < kMostUnknown) unknown.emplace_back(name);
  return true;
}

bool TargetHandler::value(Value kind, std::string_view text) {
  const bool opens = kind == Value::kObject || kind == Value::kList;
  if (skipped_ > 0 || (level_ == 1 && field_ == Field::kUnknown)) return skipped_ += opens ? 1 : 0, true;
  if (level_ == 0) {
    if (kind == Value::kObject) return level_ = 1, true;
    return fail(kind == Value::kList ? "want one object a line, not a list (jq -c '.[]' takes a list apart)"
                                     : std::string{kWant});
  }
  return level_ == 1 ? field_value(kind, text) : header_value(kind, text);
}

bool TargetHandler::field_value(Value kind, std::string_view text) {
  if (kind == Value::kNull) return true;
  switch (field_) {
    case Field::kMethod:
      if (kind != Value::kString) return fail(R"(field "method": want a string, such as "GET")");
      return target.method = text, true;
    case Field::kUrl:
      if (kind != Value::kString) return fail(R"(field "url": want a string, such as "http://127.0.0.1:8080/")");
      return target.url = text, true;
    case Field::kBody: {
      if (kind != Value::kString) return fail(R"(field "body": want a string of base64, such as "aGk=" for hi)");
      auto body = decode_base64(text);
      if (!body)
        return fail(fmt::format(R"(field "body": {}: want base64, such as "aGk=" for hi)", body.error().text()));
      if (!body->empty()) target.body = std::make_shared<const std::string>(*std::move(body));
      return true;
    }
    case Field::kHeader:
      if (kind != Value::kObject) return fail(R"(field "header": want an object of lists, such as {"X-A": ["1"]})");
      return level_ = 2, true;
    case Field::kUnknown: break;
  }
  return true;
}

bool TargetHandler::header_value(Value kind, std::string_view text) {
  if (kind == Value::kNull) return true;
  const bool wanted = level_ == 2 ? kind == Value::kList : kind == Value::kString;
  if (!wanted) {
    return fail(fmt::format(R"(field "header": {}: want a list of strings, such as ["1"])",
                            quote(std::string_view{header_name_}.substr(0, 100))));
  }
  if (level_ == 2) return level_ = 3, true;
  target.headers.push_back({header_name_, std::string{text}});
  return true;
}

bool TargetHandler::end() {
  if (skipped_ > 0) {
    --skipped_;
  } else {
    --level_;
  }
  return true;
}

/// What is wrong with `line`, from the parser's fault, in words that help.
std::string parse_fault(std::string_view line, const rapidjson::ParseResult& result, const std::string& own) {
  if (!own.empty()) return own;
  if (result.Code() == rapidjson::kParseErrorDocumentRootNotSingular)
    return "text after the object: want one object a line";
  if (line[0] != '{') return std::string{kWant};
  if (result.Offset() >= line.size())
    return "the object does not end on its line: want one object a line (jq -c . writes them so)";
  std::string text = rapidjson::GetParseError_En(result.Code());
  if (text.ends_with('.')) text.pop_back();
  if (text[0] >= 'A' && text[0] <= 'Z') text[0] = static_cast<char>(text[0] - 'A' + 'a');
  return text;
}

/// What stands at `offset` of `line`, as far as it cannot be a secret: strings are left out, and what follows a colon.
std::string excerpt(std::string_view line, std::size_t offset) {
  constexpr std::size_t kShown = 20;
  bool in_string = false;
  for (std::size_t i = 0; i < offset; ++i) {
    if (line[i] == '"') in_string = !in_string;
    if (line[i] == '\\' && in_string) ++i;
  }
  if (in_string) return "...";
  const std::string_view rest = line.substr(offset);
  const std::size_t end = rest.find_first_of("\":");
  return end < kShown ? printable(rest.substr(0, end + 1)) + "..." : printable(rest, kShown);
}

/// What must never get into a request; nullopt: nothing. All else that can't be sent fails hit by hit, as in vegeta.
std::optional<std::string> control_fault(const Target& target) {
  if (has_control(target.method))
    return fmt::format("bad method: {}: it holds a control character", printable(target.method));
  if (has_control(target.url)) {
    const auto parsed = parse_request_uri(target.url);
    return fmt::format("bad URL: {}, {}", printable(without_credentials(target.url)), parsed.error().text());
  }
  for (const HeaderField& field : target.headers) {
    if (has_control(field.name))
      return fmt::format("bad header: {}: the name holds a control character", printable(field.name));
    // Without the value, which may be a secret.
    if (!is_header_value(field.value))
      return fmt::format("bad header: {}: the value holds a control character", printable(field.name));
  }
  return std::nullopt;
}

class JsonTargeter final : public ListTargeter {
 public:
  explicit JsonTargeter(TargeterOptions options)
      : lines_{std::move(options.read), std::move(options.name), kLongestLine},
        defaults_{std::move(options.defaults)},
        warn_{std::move(options.warn)} {}

 private:
  Expected<std::optional<Target>> read_target() override;
  Expected<Target> parse_line(std::string_view line);
  void warn_of(const std::vector<std::string>& unknown);

  LineReader lines_;
  TargetDefaults defaults_;
  std::function<void(const std::string& text)> warn_;
  std::vector<std::string> warned_;  // names of unknown fields: each is said once
};

Expected<std::optional<Target>> JsonTargeter::read_target() {
  while (true) {
    const auto line = lines_.next();
    if (!line) return line.error();
    if (!*line) return std::optional<Target>{};
    if ((*line)->empty()) continue;
    auto target = parse_line(**line);
    if (!target) return std::move(target).error();
    return std::optional{*std::move(target)};
  }
}

Expected<Target> JsonTargeter::parse_line(std::string_view line) {
  // Without recursion, as the line may nest as deep as it is long; numbers stay text, as none is wanted.
  constexpr unsigned kFlags = rapidjson::kParseIterativeFlag | rapidjson::kParseNumbersAsStringsFlag;
  TargetHandler handler{defaults_};
  rapidjson::Reader reader;
  rapidjson::MemoryStream stream{line.data(), line.size()};
  rapidjson::ParseResult result = reader.Parse<kFlags>(stream, handler);
  // A NUL ends the text for the parser, but not the line.
  if (!result.IsError() && stream.Tell() < line.size())
    result.Set(rapidjson::kParseErrorDocumentRootNotSingular, stream.Tell());
  if (result.IsError()) {
    const std::size_t offset = std::min(result.Offset(), line.size());
    return lines_.error(fmt::format("parse error: {} near offset {} of '{}'", parse_fault(line, result, handler.fault),
                                    offset, excerpt(line, offset)));
  }
  if (handler.target.method.empty())
    return lines_.error(R"(target: required method is missing: add "method": "GET" (names are lower case))");
  if (handler.target.url.empty())
    return lines_.error(
        R"(target: required url is missing: add "url": "http://127.0.0.1:8080/" (names are lower case))");
  if (auto fault = control_fault(handler.target)) return lines_.error(*std::move(fault));
  warn_of(handler.unknown);
  return std::move(handler.target);
}

void JsonTargeter::warn_of(const std::vector<std::string>& unknown) {
  constexpr std::size_t kMostWarnings = 8;
  for (const std::string& name : unknown) {
    if (!warn_ || warned_.size() == kMostWarnings || std::find(warned_.begin(), warned_.end(), name) != warned_.end())
      continue;
    warned_.push_back(name);
    warn_(lines_
              .error(fmt::format("unknown field \"{}\" is skipped: the fields are method, url, body and header",
                                 printable(name, 100)))
              .text());
  }
}

}  // namespace

std::unique_ptr<Targeter> make_json_targeter(TargeterOptions options) {
  return std::make_unique<JsonTargeter>(std::move(options));
}

}  // namespace pepe
