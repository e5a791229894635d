// HOT: once per result read.
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "result/json_codec.h"
#include "result/json_line.h"
#include "result/json_record.h"
#include "result/probe.h"

namespace pepe {
namespace {

class JsonDecoder final : public Decoder {
 public:
  JsonDecoder(DecoderEvents events, DecodeOptions options)
      : events_{std::move(events)}, usual_{options}, record_{options} {}

  Expected<DecodeStatus> next(InputWindow& in, Result& out) override {
    if (!skip_byte_order_mark(in)) return DecodeStatus::kNeedMore;
    skip_blanks(in);
    const std::string_view rest = in.rest();
    const std::size_t line_end = rest.find('\n', seen_);
    const bool whole = line_end != std::string_view::npos;
    if (!whole && !may_become_record(rest)) return Error{fmt::format("json:{}: not an object", line_)};
    if (!whole && !in.at_end) return wait_for_more(rest);
    if (rest.empty()) return DecodeStatus::kEnd;
    seen_ = 0;
    const std::size_t length = whole ? line_end : rest.size();
    const std::string_view line = rest.substr(0, length);
    Expected<void> parsed;
    if (!usual_.read(line, out)) parsed = record_.parse(line, out);
    if (parsed) {
      in.pos += length;
      return DecodeStatus::kResult;
    }
    if (whole) return std::move(parsed).error().at("json", line_);
    // A writer that was killed leaves part of a line: no reason to refuse what it wrote before.
    if (events_.remark) {
      events_.remark(fmt::format("json:{}: the last line is cut and was left out: {}", line_, parsed.error().text()));
    }
    in.pos += length;
    return DecodeStatus::kEnd;
  }

 private:
  void skip_blanks(InputWindow& in) {
    for (; in.pos < in.bytes.size(); ++in.pos) {
      const char c = in.bytes[in.pos];
      if (c == '\n') {
        ++line_;
      } else if (c != ' ' && c != '\t' && c != '\r') {
        return;
      }
    }
  }

  // What cannot is refused now, not when the whole of the line has been read, nor taken for one that was cut.
  static bool may_become_record(std::string_view rest) { return rest.empty() || rest[0] == '{'; }

  Expected<DecodeStatus> wait_for_more(std::string_view rest) {
    if (rest.size() > kMaxRecordBytes) return Error{fmt::format("json:{}: a line of over 1 GiB", line_)};
    seen_ = rest.size();
    return DecodeStatus::kNeedMore;
  }

  DecoderEvents events_;
  JsonLine usual_;
  JsonRecord record_;      // Reads what is no usual line.
  std::uint64_t line_{1};  // Number of the line at hand.
  std::size_t seen_{0};    // Bytes of it that hold no line end.
};

}  // namespace

std::unique_ptr<Decoder> make_json_decoder(DecoderEvents events, DecodeOptions options) {
  return std::make_unique<JsonDecoder>(std::move(events), options);
}

}  // namespace pepe
