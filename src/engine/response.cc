#include "engine/response.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>

#include "engine/status_reason.h"

namespace pepe {
namespace {

// What a server can make grow has an end; interim answers and trailers share the budget of the head.
constexpr std::size_t kMaxHeadBytes = 1024 * 1024;
constexpr std::size_t kMaxFields = 10'000;
constexpr std::uint64_t kMaxInflatedBytes = 1024ULL * 1024 * 1024;
// A response keeps buffers up to this size for the next one.
constexpr std::size_t kSpareBytes = 256 * 1024;

constexpr std::string_view kMalformed = "net/http: HTTP/1.x transport connection broken: malformed HTTP response";

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) {
           return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
         });
}

// "etag" to "Etag", "x-request-id" to "X-Request-Id", as Go keeps header names.
void canonicalise(char* name, std::size_t size) {
  bool upper = true;
  for (std::size_t i = 0; i < size; ++i) {
    const auto byte = static_cast<unsigned char>(name[i]);
    name[i] = static_cast<char>(upper ? std::toupper(byte) : std::tolower(byte));
    upper = name[i] == '-';
  }
}

}  // namespace

void BodyCollector::start(BodyRef candidate, std::uint64_t limit) {
  candidate_ = std::move(candidate);
  matching_ = static_cast<bool>(candidate_);
  limit_ = limit;
  kept_ = 0;
  copy_.clear();
}

void BodyCollector::append(std::string_view bytes) {
  bytes = bytes.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), limit_ - kept_)));
  if (bytes.empty()) return;
  if (matching_) {
    const std::string_view known = candidate_.bytes();
    const auto at = static_cast<std::size_t>(kept_);
    if (known.size() - at >= bytes.size() && std::memcmp(known.data() + at, bytes.data(), bytes.size()) == 0) {
      kept_ += bytes.size();
      return;
    }
    matching_ = false;
    copy_.assign(known.substr(0, at));
  }
  copy_.append(bytes);
  kept_ += bytes.size();
}

std::string_view BodyCollector::bytes() const noexcept {
  return matching_ ? candidate_.bytes().substr(0, static_cast<std::size_t>(kept_)) : std::string_view{copy_};
}

void BodyCollector::reset() {
  candidate_ = {};
  matching_ = false;
  kept_ = 0;
  if (copy_.capacity() > kSpareBytes) std::string{}.swap(copy_);
  copy_.clear();
}

struct Response::Callbacks {
  static Response& self(llhttp_t* parser) { return *static_cast<Response*>(parser->data); }

  static int on_status(llhttp_t* parser, const char* at, std::size_t size) {
    Response& response = self(parser);
    response.reason_.append(at, size);
    return response.charge(size) ? 0 : HPE_USER;
  }
  static int on_header_field(llhttp_t* parser, const char* at, std::size_t size) {
    Response& response = self(parser);
    if (!response.charge(size)) return HPE_USER;
    if (response.trailers_) return 0;
    if (response.fields_.empty() || response.fields_.back().value != 0) {
      if (response.fields_.size() == kMaxFields) {
        response.error_ = fmt::format("{}: over {} header fields", kMalformed, kMaxFields);
        return HPE_USER;
      }
      response.fields_.push_back({response.text_.size(), 0, 0, 0});
    }
    response.text_.append(at, size);
    response.fields_.back().name_size += size;
    return 0;
  }
  static int on_header_field_complete(llhttp_t* parser) {
    Response& response = self(parser);
    // A value, be it empty, begins here: never at 0, since a name stands before it.
    if (!response.trailers_ && !response.fields_.empty()) response.fields_.back().value = response.text_.size();
    return 0;
  }
  static int on_header_value(llhttp_t* parser, const char* at, std::size_t size) {
    Response& response = self(parser);
    if (!response.charge(size)) return HPE_USER;
    if (response.trailers_) return 0;
    response.text_.append(at, size);
    response.fields_.back().value_size += size;
    return 0;
  }
  static int on_chunk_extension(llhttp_t* parser, const char*, std::size_t size) {
    return self(parser).charge(size) ? 0 : HPE_USER;
  }
  static int on_headers_complete(llhttp_t* parser) { return self(parser).on_headers_complete(); }
  static int on_body(llhttp_t* parser, const char* at, std::size_t size) {
    return self(parser).take_body({at, size}) ? 0 : HPE_USER;
  }
  static int on_message_complete(llhttp_t* parser) { return self(parser).on_message_complete(); }

  static const llhttp_settings_t* settings() {
    static const llhttp_settings_t settings = [] {
      llhttp_settings_t made;
      llhttp_settings_init(&made);
      made.on_status = on_status;
      made.on_header_field = on_header_field;
      made.on_header_field_complete = on_header_field_complete;
      made.on_header_value = on_header_value;
      made.on_chunk_extension_name = on_chunk_extension;
      made.on_chunk_extension_value = on_chunk_extension;
      made.on_headers_complete = on_headers_complete;
      made.on_body = on_body;
      made.on_message_complete = on_message_complete;
      return made;
    }();
    return &settings;
  }
};

Response::Response() = default;

void Response::start(const ResponseExpectation& expected) {
  reset();
  expected_ = expected;
  llhttp_init(&parser_, HTTP_RESPONSE, Callbacks::settings());
  parser_.data = this;
  body_.start(expected.candidate, expected.keep_limit);
}

void Response::start_fixed(const ResponseExpectation& expected, std::uint64_t content_length) {
  reset();
  expected_ = expected;
  fixed_ = begun_ = head_done_ = keep_alive_ = true;
  remaining_ = content_length;
  content_length_ = content_length;
  body_.start(expected.candidate, expected.keep_limit);
}

void Response::start_parts(const ResponseExpectation& expected) {
  reset();
  expected_ = expected;
  in_parts_ = begun_ = true;
  body_.start(expected.candidate, expected.keep_limit);
}

void Response::reset() {
  expected_ = {};
  fixed_ = in_parts_ = begun_ = head_done_ = complete_ = keep_alive_ = trailers_ = false;
  code_ = interim_ = 0;
  head_bytes_ = 0;
  content_length_.reset();
  reason_.clear();
  if (text_.capacity() > kSpareBytes) std::string{}.swap(text_);
  text_.clear();
  if (fields_.capacity() * sizeof(Field) > kSpareBytes) std::vector<Field>{}.swap(fields_);
  fields_.clear();
  views_.clear();
  bytes_read_ = 0;
  inflater_.reset();
  body_.reset();
  error_.clear();
}

Response::Status Response::fail(std::string text) {
  if (error_.empty()) error_ = std::move(text);
  return Status::kError;
}

bool Response::charge(std::size_t bytes) {
  head_bytes_ += bytes;
  if (head_bytes_ <= kMaxHeadBytes) return true;
  error_ =
      fmt::format("net/http: server response headers exceeded {} bytes; malformed or hostile answer", kMaxHeadBytes);
  return false;
}

Response::Status Response::feed(std::string_view data, std::size_t& used) {
  used = 0;
  if (fixed_) return feed_fixed(data, used);
  if (data.empty()) return Status::kNeedMore;
  begun_ = true;
  const llhttp_errno_t status = llhttp_execute(&parser_, data.data(), data.size());
  if (complete_) {
    used = status == HPE_PAUSED ? static_cast<std::size_t>(llhttp_get_error_pos(&parser_) - data.data()) : data.size();
    return Status::kComplete;
  }
  used = data.size();
  if (status == HPE_OK) return Status::kNeedMore;
  if (status == HPE_PAUSED_UPGRADE)
    return fail(fmt::format("{}: 101 Switching Protocols was not asked for", kMalformed));
  const char* const reason = llhttp_get_error_reason(&parser_);  // null when a callback has said more
  return fail(fmt::format("{}: {}", kMalformed, reason != nullptr ? reason : llhttp_errno_name(status)));
}

Response::Status Response::feed_fixed(std::string_view data, std::size_t& used) {
  used = static_cast<std::size_t>(std::min<std::uint64_t>(data.size(), remaining_));
  remaining_ -= used;
  bytes_read_ += used;
  body_.append(data.substr(0, used));
  complete_ = remaining_ == 0;
  return complete_ ? Status::kComplete : Status::kNeedMore;
}

Response::Status Response::end_of_input() {
  // on_message_complete pauses the parser, so llhttp_finish's own status says nothing.
  if (!fixed_ && begun_) llhttp_finish(&parser_);
  if (complete_) return Status::kComplete;
  if (!error_.empty()) return Status::kError;
  if (head_done_ && content_length_)
    return fail(fmt::format("unexpected EOF after {} of {} bytes", bytes_read_, *content_length_));
  return fail("unexpected EOF");
}

bool Response::take_body(std::string_view bytes) {
  bytes_read_ += bytes.size();
  if (!inflater_) {
    body_.append(bytes);
    return true;
  }
  std::uint64_t unpacked = body_.kept();
  const bool intact = inflater_->append(bytes, [&](std::string_view piece) {
    unpacked += piece.size();
    if (unpacked <= kMaxInflatedBytes) body_.append(piece);
  });
  if (!intact) error_ = "gzip: invalid header or corrupt data in the response body";
  if (unpacked > kMaxInflatedBytes)
    error_ = fmt::format("gzip: the response body unpacks to over the limit of {} bytes", kMaxInflatedBytes);
  return error_.empty();
}

// llhttp's protocol: 0 go on, 1 no body follows, -1 stop with an error.
int Response::on_headers_complete() {
  trailers_ = true;
  code_ = parser_.status_code;
  head_done_ = true;
  keep_alive_ = llhttp_should_keep_alive(&parser_) != 0;
  if (code_ < 100 || code_ > 999) {
    error_ = fmt::format("{}: status code {}", kMalformed, code_);
    return -1;
  }
  if (code_ < 200) return 1;
  if ((parser_.flags & F_CONTENT_LENGTH) != 0 && (parser_.flags & F_CHUNKED) == 0)
    content_length_ = parser_.content_length;
  return begin_body() ? 0 : 1;
}

// The head is whole. False: no body follows.
bool Response::begin_body() {
  if (expected_.to_head || code_ == 204 || code_ == 304) {
    content_length_ = 0;
    return false;
  }
  if (expected_.inflate) {
    const auto encoding = header("Content-Encoding");
    if (encoding && equals_ignoring_case(*encoding, "gzip")) inflater_.emplace();
  }
  return true;
}

void Response::forget_interim() {
  ++interim_;
  head_done_ = trailers_ = false;
  fields_.clear();
  views_.clear();
  text_.clear();
  reason_.clear();
}

int Response::on_message_complete() {
  if (code_ == 101) {
    error_ = fmt::format("{}: 101 Switching Protocols was not asked for", kMalformed);
    return HPE_USER;
  }
  if (code_ < 200) {
    forget_interim();
    // Interim answers never end the connection's use, whatever their headers say.
    return charge(64) ? 0 : HPE_USER;
  }
  return finish() ? HPE_PAUSED : HPE_USER;
}

bool Response::finish() {
  if (inflater_ && bytes_read_ > 0 && !inflater_->complete()) {
    error_ = "gzip: unexpected EOF in the response body";
    return false;
  }
  // The frames of a body have said how long it is, whether a header did or not.
  if (in_parts_) content_length_ = bytes_read_;
  complete_ = true;
  return true;
}

bool Response::add_field(std::string_view name, std::string_view value) {
  // What a field costs in RFC 9113 6.5.2.
  constexpr std::size_t kFieldOverhead = 32;
  if (!charge(name.size() + value.size() + kFieldOverhead)) return false;
  if (head_done_) return true;
  if (name == ":status") {
    code_ = 0;
    std::from_chars(value.data(), value.data() + value.size(), code_);
    text_.assign(value).push_back('\n');
    return true;
  }
  if (fields_.size() == kMaxFields) {
    error_ = fmt::format("http2: malformed response: over {} header fields", kMaxFields);
    return false;
  }
  Field field{text_.size(), name.size(), text_.size() + name.size() + 1, value.size()};
  fields_.push_back(field);
  text_.append(name).append(1, '\n').append(value).append(1, '\n');
  return true;
}

bool Response::end_head() {
  if (code_ < 100 || code_ > 999) {
    error_ = fmt::format("http2: malformed response: status code {}", code_);
    return false;
  }
  if (code_ < 200) {
    forget_interim();
    return true;
  }
  head_done_ = keep_alive_ = true;
  begin_body();
  return true;
}

std::string Response::status_text() const {
  const std::string_view reason = in_parts_ ? status_reason(code_) : std::string_view{reason_};
  return reason.empty() ? fmt::format("{}", code_) : fmt::format("{} {}", code_, reason);
}

std::span<const HeaderView> Response::headers() {
  if (!views_.empty()) return views_;
  for (const Field& field : fields_) {
    canonicalise(text_.data() + field.name, field.name_size);
    const std::string_view name{text_.data() + field.name, field.name_size};
    if (name == "Transfer-Encoding" || name == "Trailer") continue;
    if (inflater_ && (name == "Content-Encoding" || name == "Content-Length")) continue;
    std::string_view value{text_.data() + field.value, field.value_size};
    while (!value.empty() && (value.back() == ' ' || value.back() == '\t')) value.remove_suffix(1);
    views_.push_back({name, value});
  }
  return views_;
}

std::optional<std::string_view> Response::header(std::string_view canonical_name) {
  for (const Field& field : fields_) {
    const std::string_view name{text_.data() + field.name, field.name_size};
    if (equals_ignoring_case(name, canonical_name))
      return std::string_view{text_.data() + field.value, field.value_size};
  }
  return std::nullopt;
}

}  // namespace pepe
