#include "engine/response.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <new>

#include "engine/limits.h"
#include "engine/status_reason.h"
#include "pepe/base/text.h"

namespace pepe {
namespace {

// A response keeps buffers up to this size for the next one.
constexpr std::size_t kSpareBytes = 256 * 1024;

// RFC 9113 6.5.2
constexpr std::size_t field_cost(std::size_t bytes) { return bytes + 32; }

constexpr std::string_view kMalformed = "net/http: HTTP/1.x transport connection broken: malformed HTTP response";

// "etag" to "Etag", "x-request-id" to "X-Request-Id", as Go keeps header names.
void canonicalise(char* name, std::size_t size) {
  bool upper = true;
  for (std::size_t i = 0; i < size; ++i) {
    const auto byte = static_cast<unsigned char>(name[i]);
    name[i] = static_cast<char>(upper ? std::toupper(byte) : std::tolower(byte));
    upper = name[i] == '-';
  }
}

// Blanks behind a field's value are no part of it (RFC 9110, 5.5); llhttp leaves them.
std::string_view without_blanks(std::string_view value) {
  while (!value.empty() && (value.back() == ' ' || value.back() == '\t')) value.remove_suffix(1);
  return value;
}

std::string unsupported_coding(std::string_view coding) {
  constexpr std::size_t kShown = 80;
  return fmt::format("net/http: HTTP/1.x transport connection broken: unsupported transfer encoding {}",
                     quote(coding.substr(0, kShown)));
}

}  // namespace

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
      if (response.fields_.size() == kMaxHeadFields) {
        response.error_ = fmt::format("{}: over {} header fields", kMalformed, kMaxHeadFields);
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
    if (response.trailers_) return 0;
    // llhttp takes ": x" for a field. Without its name the last field would be one whose value has begun.
    if (response.fields_.empty() || response.fields_.back().value != 0 || response.fields_.back().name_size == 0) {
      response.error_ = fmt::format("{}: a header field without a name", kMalformed);
      return HPE_USER;
    }
    // A value, be it empty, begins here: never at 0, since a name stands before it.
    response.fields_.back().value = response.text_.size();
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

  // Nothing is thrown through llhttp: a response that finds no memory fails like any other.
  template <auto kCall, class... Args>
  static int guarded(llhttp_t* parser, Args... args) {
    try {
      return kCall(parser, args...);
    } catch (const std::bad_alloc&) {
      return self(parser).run_out_of_memory();
    }
  }

  static const llhttp_settings_t* settings() {
    static const llhttp_settings_t settings = [] {
      llhttp_settings_t made;
      llhttp_settings_init(&made);
      made.on_status = guarded<on_status>;
      made.on_header_field = guarded<on_header_field>;
      made.on_header_field_complete = guarded<on_header_field_complete>;
      made.on_header_value = guarded<on_header_value>;
      made.on_chunk_extension_name = guarded<on_chunk_extension>;
      made.on_chunk_extension_value = guarded<on_chunk_extension>;
      made.on_headers_complete = guarded<on_headers_complete>;
      made.on_body = guarded<on_body>;
      made.on_message_complete = guarded<on_message_complete>;
      return made;
    }();
    return &settings;
  }
};

// HTTP is read strictly: llhttp gets no lenient flag. TLS is (configure() in tls_context.cc).
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
  bytes_read_ = unpacked_ = 0;
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
  used = data.size();
  if (!error_.empty()) return Status::kError;
  if (complete_) {
    if (status == HPE_PAUSED) used = static_cast<std::size_t>(llhttp_get_error_pos(&parser_) - data.data());
    return status_now();
  }
  if (status == HPE_OK) return status_now();
  if (status == HPE_PAUSED_UPGRADE)
    return fail(fmt::format("{}: 101 Switching Protocols was not asked for", kMalformed));
  const char* const reason = llhttp_get_error_reason(&parser_);
  return fail(fmt::format("{}: {}", kMalformed, reason != nullptr ? reason : llhttp_errno_name(status)));
}

Response::Status Response::status_now() {
  if (!error_.empty()) return Status::kError;
  if (busy()) return Status::kBusy;
  return complete_ ? Status::kComplete : Status::kNeedMore;
}

Response::Status Response::feed_fixed(std::string_view data, std::size_t& used) {
  used = static_cast<std::size_t>(std::min<std::uint64_t>(data.size(), remaining_));
  remaining_ -= used;
  bytes_read_ += used;
  complete_ = remaining_ == 0;
  keep(data.substr(0, used));
  return status_now();
}

Response::Status Response::go_on() {
  const bool intact = check(inflater_->go_on([this](std::string_view piece) { return keep(piece); }));
  if (intact && complete_ && !busy()) check_end();
  return status_now();
}

Response::Status Response::end_of_input() {
  // on_message_complete pauses the parser, so llhttp_finish's own status says nothing.
  if (!fixed_ && begun_) llhttp_finish(&parser_);
  if (complete_ || !error_.empty()) return status_now();
  if (head_done_ && content_length_)
    return fail(fmt::format("unexpected EOF after {} of {} bytes", bytes_read_, *content_length_));
  return fail("unexpected EOF");
}

bool Response::take_body(std::string_view bytes) {
  bytes_read_ += bytes.size();
  if (!inflater_) return keep(bytes);
  return check(inflater_->append(bytes, [this](std::string_view piece) { return keep(piece); }));
}

bool Response::keep(std::string_view bytes) {
  if (inflater_ && (unpacked_ += bytes.size()) > kMaxInflatedBytes) {
    error_ = fmt::format("gzip: the response body unpacks to over the limit of {} bytes", kMaxInflatedBytes);
    body_.drop();
    return false;
  }
  if (body_.append(bytes)) return true;
  error_ = body_.shortage();
  return false;
}

// What unpacking came to, as error_ has it.
bool Response::check(Inflater::Status status) {
  if (status == Inflater::Status::kCorrupt) error_ = "gzip: invalid header or corrupt data in the response body";
  if (status == Inflater::Status::kNoMemory) run_out_of_memory();
  return error_.empty();
}

// The text needs no memory of its own.
int Response::run_out_of_memory() noexcept {
  error_ = "out of memory";
  body_.drop();
  return HPE_USER;
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
  if ((parser_.flags & F_TRANSFER_ENCODING) != 0) {
    // A body that is coded otherwise could not be told from one that is not.
    for (const Field& field : fields_) {
      if (!equals_ignoring_case({text_.data() + field.name, field.name_size}, "Transfer-Encoding")) continue;
      const std::string_view coding = without_blanks({text_.data() + field.value, field.value_size});
      if (equals_ignoring_case(coding, "chunked")) continue;
      error_ = unsupported_coding(coding);
      return -1;
    }
  }
  if ((parser_.flags & F_CONTENT_LENGTH) != 0 && (parser_.flags & F_CHUNKED) == 0)
    content_length_ = parser_.content_length;
  return begin_body() ? 0 : 1;
}

// The head is whole. False: no body follows.
bool Response::begin_body() {
  if (bodiless()) {
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
  // The frames of a body have said how long it is, whether a header did or not.
  if (in_parts_) content_length_ = bytes_read_;
  complete_ = true;
  return busy() || check_end();
}

bool Response::check_end() {
  if (inflater_ && bytes_read_ > 0 && !inflater_->complete()) error_ = "gzip: unexpected EOF in the response body";
  return error_.empty();
}

bool Response::add_field(std::string_view name, std::string_view value) {
  if (!charge(field_cost(name.size() + value.size()))) return false;
  if (head_done_) return true;
  if (name == ":status") {
    code_ = 0;
    std::from_chars(value.data(), value.data() + value.size(), code_);
    text_.assign(value).push_back('\n');
    return true;
  }
  if (fields_.size() == kMaxHeadFields) {
    error_ = fmt::format("http2: malformed response: over {} header fields", kMaxHeadFields);
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

bool Response::copy_head(Head& head, std::size_t most) const {
  if (text_.size() > most) return false;
  head.code = code_;
  head.bytes = field_cost(std::string_view{":status"}.size() + 3);
  for (const Field& field : fields_) head.bytes += field_cost(field.name_size + field.value_size);
  head.text = text_;
  head.fields = fields_;
  return true;
}

bool Response::adopt_head(const Head& head) {
  if (!charge(head.bytes)) return false;
  code_ = head.code;
  text_ = head.text;
  fields_ = head.fields;
  return end_head();
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
    views_.push_back({name, without_blanks({text_.data() + field.value, field.value_size})});
  }
  return views_;
}

std::optional<std::string_view> Response::header(std::string_view canonical_name) {
  for (const Field& field : fields_) {
    const std::string_view name{text_.data() + field.name, field.name_size};
    if (equals_ignoring_case(name, canonical_name))
      return without_blanks({text_.data() + field.value, field.value_size});
  }
  return std::nullopt;
}

}  // namespace pepe
