// HOT: once per result read.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "pepe/base/text.h"
#include "result/base64.h"
#include "result/csv_codec.h"
#include "result/csv_field.h"
#include "result/header_block.h"
#include "result/number_text.h"
#include "result/probe.h"
#include "result/time_text.h"

namespace pepe {
namespace {

enum Column {
  kTimestamp,
  kCode,
  kLatency,
  kBytesOut,
  kBytesIn,
  kError,
  kBody,
  kAttack,
  kSeq,
  kMethod,
  kUrl,
  kHeaders,
  kColumns,
};

constexpr std::string_view kColumnNames[kColumns] = {"timestamp", "code",   "latency", "bytes out",
                                                     "bytes in",  "error",  "body",    "attack",
                                                     "seq",       "method", "url",     "headers"};

// Finds where a record ends although it comes in pieces: each byte is looked at once.
class RecordEnd {
 public:
  // Length of the record at the front of `text`, its line end included; npos: the end is not in there.
  std::size_t find(std::string_view text) {
    while (seen_ < text.size()) {
      if (quoted_) {
        const std::size_t quote = text.find('"', seen_);
        seen_ = quote == std::string_view::npos ? text.size() : quote + 1;
        quoted_ = quote == std::string_view::npos;
        continue;
      }
      const std::size_t line_end = text.find('\n', seen_);
      const std::size_t quote = text.substr(0, line_end).find('"', seen_);
      if (quote == std::string_view::npos) {
        if (line_end != std::string_view::npos) return line_end + 1;
        seen_ = text.size();
      } else {
        quoted_ = opens(text, quote);
        seen_ = quote + 1;
      }
    }
    return std::string_view::npos;
  }
  void restart() { *this = RecordEnd{}; }

 private:
  // Whether the quote at `at` can open a field, or open it again behind an escaped quote. One that cannot
  // must not make the rest of the stream part of this record.
  static bool opens(std::string_view text, std::size_t at) {
    if (at == 0) return true;
    const auto before = static_cast<unsigned char>(text[at - 1]);
    return before == ',' || before == '"' || before <= ' ' || before >= 0x80;
  }

  std::size_t seen_{0};
  bool quoted_{false};
};

class CsvDecoder final : public Decoder {
 public:
  CsvDecoder(DecoderEvents events, DecodeOptions options) : events_{std::move(events)}, options_{options} {}

  Expected<DecodeStatus> next(InputWindow& in, Result& out) override {
    if (!skip_byte_order_mark(in)) return DecodeStatus::kNeedMore;
    skip_blank_lines(in);
    const std::string_view rest = in.rest();
    std::size_t length = record_end_.find(rest);
    const bool ended = length != std::string_view::npos;
    if (!ended) {
      if (!in.at_end) return wait_for_more(in);
      if (rest.empty()) return DecodeStatus::kEnd;
      length = rest.size();
    }
    record_end_.restart();
    ++line_;
    Expected<void> decoded = decode(rest.substr(0, length), out);
    if (!decoded) return std::move(decoded).error().at("csv", line_);
    if (!ended && !out.has_headers) remark_on_cut();
    line_ += lines_within_;
    in.pos += length;
    return DecodeStatus::kResult;
  }

 private:
  void skip_blank_lines(InputWindow& in) {
    for (;; ++line_) {
      const std::string_view rest = in.rest();
      if (rest.starts_with('\n')) {
        in.pos += 1;
      } else if (rest.starts_with("\r\n") || (in.at_end && rest == "\r")) {
        in.pos += std::min<std::size_t>(rest.size(), 2);
      } else {
        return;
      }
    }
  }

  // A cut just before the last column leaves a record that looks like one without headers.
  void remark_on_cut() const {
    if (events_.remark)
      events_.remark(fmt::format("csv:{}: the last line has no line end: if it was cut, headers are missing", line_));
  }

  // Something that cannot become a record is refused now, not when the whole of it has been read.
  Expected<DecodeStatus> wait_for_more(const InputWindow& in) {
    const std::string_view rest = in.rest();
    const std::string_view start = rest.substr(leading_space(rest));
    if (!start.empty() && std::string_view{"0123456789+-\"\r"}.find(start[0]) == std::string_view::npos &&
        static_cast<unsigned char>(start[0]) < 0x80) {
      return bad_column(kTimestamp, start.substr(0, start.find(','))).at("csv", line_ + 1);
    }
    if (rest.size() > kMaxRecordBytes) return Error{fmt::format("csv:{}: a record of over 1 GiB", line_ + 1)};
    return DecodeStatus::kNeedMore;
  }

  Expected<void> decode(std::string_view record, Result& out) {
    lines_within_ = 0;
    if (Expected<void> split = split_fields(record); !split) return split;
    out = Result{};
    out.error = fields_[kError];
    out.attack = fields_[kAttack];
    out.method = fields_[kMethod];
    out.url = fields_[kUrl];
    std::int64_t latency = 0;
    if (!parse_number(fields_[kTimestamp], out.timestamp.unix_nanos)) return bad_column(kTimestamp);
    if (!parse_number(fields_[kCode], out.code)) return bad_column(kCode);
    if (!parse_number(fields_[kLatency], latency)) return bad_column(kLatency);
    if (!parse_number(fields_[kBytesOut], out.bytes_out)) return bad_column(kBytesOut);
    if (!parse_number(fields_[kBytesIn], out.bytes_in)) return bad_column(kBytesIn);
    if (!parse_number(fields_[kSeq], out.seq)) return bad_column(kSeq);
    out.latency = Nanos{latency};
    out.timestamp.zone_minutes = zone_.minutes(out.timestamp.unix_nanos);
    if (!decode_body(out)) return bad_column(kBody);
    if (!decode_headers(out)) return bad_column(kHeaders);
    return {};
  }

  Error bad_column(Column column) const { return bad_column(column, fields_[column]); }

  static Error bad_column(Column column, std::string_view field) {
    return Error{fmt::format("column {} ({}): cannot read {}", static_cast<int>(column) + 1, kColumnNames[column],
                             quote(field.substr(0, 40)))};
  }

  Expected<void> split_fields(std::string_view record) {
    unquoted_.clear();
    unquoted_.reserve(record.size());  // Views into it must not move.
    if (record.ends_with('\n')) record.remove_suffix(1);
    if (record.ends_with('\r')) record.remove_suffix(1);
    for (std::size_t column = 0;; ++column) {
      record.remove_prefix(leading_space(record));
      std::string_view field;
      if (record.starts_with('"')) {
        if (!take_quoted(record, field))
          return Error{fmt::format("column {}: the quotes do not close the field", column + 1)};
      } else {
        field = record.substr(0, record.find(','));
        record.remove_prefix(field.size());
        if (field.find('"') != std::string_view::npos) {
          return Error{fmt::format("column {}: a quote within a field that has none around it", column + 1)};
        }
      }
      if (column < kColumns) fields_[column] = field;
      if (record.empty()) return check_count(column + 1);
      record.remove_prefix(1);
    }
  }

  Expected<void> check_count(std::size_t columns) const {
    if (columns == kColumns) return {};
    return Error{fmt::format("{} columns, want {}", columns, static_cast<int>(kColumns))};
  }

  // Takes a field in quotes off the front of `record`. False: what follows the closing quote is no comma.
  bool take_quoted(std::string_view& record, std::string_view& field) {
    const std::size_t start = unquoted_.size();
    record.remove_prefix(1);
    for (;;) {
      const std::size_t quote = record.find('"');
      if (quote == std::string_view::npos) return false;
      unquoted_ += record.substr(0, quote);
      record.remove_prefix(quote + 1);
      if (!record.starts_with('"')) break;
      unquoted_ += '"';
      record.remove_prefix(1);
    }
    field = std::string_view{unquoted_}.substr(start);
    for (const char c : field) lines_within_ += c == '\n' ? 1 : 0;
    return record.empty() || record[0] == ',';
  }

  bool decode_body(Result& out) {
    if (!options_.bodies) return check_base64(fields_[kBody]).has_value();
    body_.clear();
    if (!append_from_base64(fields_[kBody], body_)) return false;
    out.body = body_;
    return true;
  }

  bool decode_headers(Result& out) {
    const std::string_view text = fields_[kHeaders];
    if (text.empty()) return true;
    if (text != header_text_) {
      header_text_.clear();
      block_.clear();
      if (!append_from_base64(text, block_) || !parse_header_block(block_, names_, headers_)) return false;
      header_text_ = text;
    }
    out.has_headers = true;
    out.headers = headers_;
    return true;
  }

  DecoderEvents events_;
  DecodeOptions options_;
  RecordEnd record_end_;
  std::uint64_t line_{0};          // Lines read.
  std::uint64_t lines_within_{0};  // Line breaks inside the quotes of the last record.
  std::array<std::string_view, kColumns> fields_;
  std::string unquoted_;
  std::string body_;
  LocalZone zone_;

  // The headers of the last record that had some, for the next ones that have the same.
  std::string header_text_;
  std::string block_;
  std::string names_;
  std::vector<HeaderView> headers_;
};

}  // namespace

std::unique_ptr<Decoder> make_csv_decoder(DecoderEvents events, DecodeOptions options) {
  return std::make_unique<CsvDecoder>(std::move(events), options);
}

}  // namespace pepe
