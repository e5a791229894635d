#include "result/probe.h"

namespace pepe {
namespace {

constexpr std::size_t kProbeBytes = std::size_t{64} * 1024;

}  // namespace

bool skip_byte_order_mark(InputWindow& in) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (in.offset + in.pos > 0 || in.bytes.empty()) return true;
  if (in.bytes.starts_with(kMark)) in.pos = kMark.size();
  return in.pos > 0 || in.at_end || !kMark.starts_with(in.bytes);
}

CodecEntry::Match probe(Decoder& decoder, std::string_view head, bool at_end) {
  InputWindow window{head, 0, 0, at_end};
  Result result;
  const Expected<DecodeStatus> status = decoder.next(window, result);
  if (!status) return CodecEntry::Match::kNo;
  switch (*status) {
    case DecodeStatus::kResult: return CodecEntry::Match::kYes;
    case DecodeStatus::kEnd: return CodecEntry::Match::kNo;
    case DecodeStatus::kNeedMore: break;
  }
  return head.size() < kProbeBytes ? CodecEntry::Match::kNeedMore : CodecEntry::Match::kYes;
}

}  // namespace pepe
