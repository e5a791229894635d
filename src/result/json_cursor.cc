// HOT: once per string with escapes.
#include "result/json_cursor.h"

#include <charconv>

namespace pepe {

bool JsonCursor::take_escaped(const char* start, std::string_view& out) {
  // No string is longer without its escapes, so the room for all that may follow is made once and views stay valid.
  if (unescaped_.empty()) unescaped_.reserve(static_cast<std::size_t>(end_ - start));
  const std::size_t before = unescaped_.size();
  unescaped_.append(start, at_);
  while (at_ != end_ && *at_ == '\\') {
    ++at_;
    if (!take_escape()) return false;
    const char* const plain = at_;
    at_ = find_special(at_, end_);
    unescaped_.append(plain, at_);
  }
  if (at_ == end_ || *at_ != '"') return false;
  ++at_;
  out = std::string_view{unescaped_}.substr(before);
  return true;
}

bool JsonCursor::take_escape() {
  if (at_ == end_) return false;
  switch (const char c = *at_++) {
    case '"':
    case '\\':
    case '/': unescaped_ += c; return true;
    case 'b': unescaped_ += '\b'; return true;
    case 'f': unescaped_ += '\f'; return true;
    case 'n': unescaped_ += '\n'; return true;
    case 'r': unescaped_ += '\r'; return true;
    case 't': unescaped_ += '\t'; return true;
    case 'u': return take_code_point();
    default: return false;
  }
}

bool JsonCursor::take_code_point() {
  unsigned value = 0;
  if (left() < 4 || std::from_chars(at_, at_ + 4, value, 16).ptr != at_ + 4) return false;
  at_ += 4;
  // No encoder of ours writes surrogates: what they stand for is written as it is.
  if (value >= 0xD800 && value <= 0xDFFF) return false;
  if (value < 0x80) {
    unescaped_ += static_cast<char>(value);
    return true;
  }
  if (value < 0x800) {
    unescaped_ += static_cast<char>(0xC0 | value >> 6);
  } else {
    unescaped_ += static_cast<char>(0xE0 | value >> 12);
    unescaped_ += static_cast<char>(0x80 | (value >> 6 & 0x3F));
  }
  unescaped_ += static_cast<char>(0x80 | (value & 0x3F));
  return true;
}

}  // namespace pepe
