// HOT: once per HTTP/2 hit. No allocation once warm.
#include "engine/http2_head_reader.h"

#include <algorithm>
#include <charconv>

#include "engine/hpack_scan.h"
#include "engine/shortage.h"

namespace pepe {
namespace {

// Heads longer than that are decoded each time.
constexpr std::size_t kMostKnownBytes = 4096;
// A byte of a head may stand for a field of the table.
constexpr std::size_t kMostKnownText = 4 * kMostKnownBytes;

std::uint8_t* bytes_of(std::string_view text) {
  return const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(text.data()));
}

// RFC 9110 5.6.2, without the upper case (RFC 9113 8.2).
bool is_name_byte(char c) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || kMarks.find(c) != kMarks.npos;
}
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool is_value_byte(char c) { return static_cast<unsigned char>(c) >= 0x20 ? c != 0x7F : c == '\t'; }

bool is_value(std::string_view value) {
  if (!value.empty() && (is_blank(value.front()) || is_blank(value.back()))) return false;
  return std::all_of(value.begin(), value.end(), is_value_byte);
}

bool belongs_to_http1(std::string_view name, std::string_view value) {
  return name == "connection" || name == "keep-alive" || name == "proxy-connection" || name == "transfer-encoding" ||
         name == "upgrade" || (name == "te" && value != "trailers");
}

/// The fields of one answer's head, or of its trailers, one after another.
class FieldRules {
 public:
  enum class Verdict { kTake, kPassOver, kMalformed };

  explicit FieldRules(bool trailers) : trailers_{trailers} {}

  Verdict judge(std::string_view name, std::string_view value) {
    if (name.starts_with(':')) return judge_status(name, value);
    seen_field_ = true;
    if (std::any_of(name.begin(), name.end(), is_upper)) return Verdict::kMalformed;
    // As nghttp2 does, though RFC 9113 8.2.1 would have the answer refused: servers do send such fields.
    if (name.empty() || !std::all_of(name.begin(), name.end(), is_name_byte) || !is_value(value))
      return name == "content-length" ? Verdict::kMalformed : Verdict::kPassOver;
    if (belongs_to_http1(name, value)) return Verdict::kMalformed;
    return name == "content-length" && !trailers_ ? judge_length(value) : Verdict::kTake;
  }
  /// Whether the block is whole.
  bool complete() const noexcept { return trailers_ || code_ != 0; }
  std::int64_t content_length() const noexcept { return content_length_; }

 private:
  // 101 has no place in HTTP/2 (RFC 9113 8.6).
  Verdict judge_status(std::string_view name, std::string_view value) {
    const bool digits = value.size() == 3 && std::all_of(value.begin(), value.end(), is_digit);
    if (trailers_ || seen_field_ || code_ != 0 || name != ":status" || !digits) return Verdict::kMalformed;
    std::from_chars(value.data(), value.data() + value.size(), code_);
    return code_ >= 100 && code_ != 101 ? Verdict::kTake : Verdict::kMalformed;
  }
  // Where there is no body there is no length either (RFC 9110 8.6); a 0 does no harm.
  Verdict judge_length(std::string_view value) {
    std::int64_t length = 0;
    const auto parsed = std::from_chars(value.data(), value.data() + value.size(), length);
    const bool number = !value.empty() && std::all_of(value.begin(), value.end(), is_digit) && parsed.ec == std::errc{};
    if (!number || content_length_ >= 0 || code_ < 200) return Verdict::kMalformed;
    if (code_ == 204) return length == 0 ? Verdict::kPassOver : Verdict::kMalformed;
    content_length_ = length;
    return Verdict::kTake;
  }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }

  const bool trailers_;
  bool seen_field_{false};
  int code_{0};
  std::int64_t content_length_{-1};
};

}  // namespace

Http2HeadReader::Http2HeadReader(nghttp2_mem* memory) {
  nghttp2_hd_inflater* inflater = nullptr;
  require_memory(nghttp2_hd_inflate_new2(&inflater, memory) == 0);
  inflater_.reset(inflater);
}

Http2HeadReader::Read Http2HeadReader::read(std::string_view block, Response* response) {
  if (const Known* const known = find(block)) {
    if (response == nullptr) return {};
    if (!response->has_head()) {
      const Outcome outcome = response->adopt_head(known->head) ? Outcome::kOk : Outcome::kRefused;
      return {outcome, known->content_length};
    }
  }
  const auto scan = scan_hpack(block);
  if (!scan) return {Outcome::kUnknown};
  if (!scan->stable) ++version_;
  const bool trailers = response != nullptr && response->has_head();
  const Read read = decode(block, response);
  const bool final_head = response != nullptr && !trailers && response->has_head();
  if (read.outcome == Outcome::kOk && final_head && scan->stable && block.size() <= kMostKnownBytes)
    learn(block, read.content_length, *response);
  return read;
}

Http2HeadReader::Known* Http2HeadReader::find(std::string_view block) noexcept {
  for (Known& known : known_)
    if (known.version == version_ && known.block == block) return &known;
  return nullptr;
}

// The whole block is decoded whatever its fields are like: the table must see it.
Http2HeadReader::Read Http2HeadReader::decode(std::string_view block, Response* response) {
  const bool trailers = response != nullptr && response->has_head();
  FieldRules rules{trailers};
  Outcome outcome = Outcome::kOk;
  const std::uint8_t* in = bytes_of(block);
  std::size_t left = block.size();
  for (;;) {
    nghttp2_nv field{};
    int flags = 0;
    const ssize_t used = nghttp2_hd_inflate_hd2(inflater_.get(), &field, &flags, in, left, 1);
    if (used == NGHTTP2_ERR_NOMEM) throw std::bad_alloc{};
    if (used < 0) return {Outcome::kUnknown};
    in += used;
    left -= static_cast<std::size_t>(used);
    if ((flags & NGHTTP2_HD_INFLATE_EMIT) != 0 && response != nullptr && outcome == Outcome::kOk) {
      const std::string_view name{reinterpret_cast<const char*>(field.name), field.namelen};
      const std::string_view value{reinterpret_cast<const char*>(field.value), field.valuelen};
      const auto verdict = rules.judge(name, value);
      if (verdict == FieldRules::Verdict::kMalformed) outcome = Outcome::kMalformed;
      if (verdict == FieldRules::Verdict::kTake && !response->add_field(name, value)) outcome = Outcome::kRefused;
    }
    if ((flags & NGHTTP2_HD_INFLATE_FINAL) != 0) break;
    if ((flags & NGHTTP2_HD_INFLATE_EMIT) == 0 && left == 0) break;
  }
  nghttp2_hd_inflate_end_headers(inflater_.get());
  if (outcome != Outcome::kOk || response == nullptr) return {outcome};
  if (!rules.complete()) return {Outcome::kMalformed};
  if (!trailers && !response->end_head()) return {Outcome::kRefused};
  return {Outcome::kOk, rules.content_length()};
}

void Http2HeadReader::learn(std::string_view block, std::int64_t content_length, const Response& response) {
  Known& known = known_[oldest_];
  oldest_ = (oldest_ + 1) % known_.size();
  known.version = 0;
  known.block = block;
  known.content_length = content_length;
  if (response.copy_head(known.head, kMostKnownText)) known.version = version_;
}

}  // namespace pepe
