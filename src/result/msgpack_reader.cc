#include "result/msgpack_reader.h"

namespace pepe {

bool MsgpackReader::read_count(unsigned fix, unsigned wide, std::size_t values_each, std::size_t& count) noexcept {
  if (left() == 0) return false;
  const unsigned lead = static_cast<unsigned char>(*at_++);
  if ((lead & 0xF0) == fix) {
    count = lead & 0x0F;
  } else if (lead == wide) {
    if (!read_big<std::uint16_t>(count)) return false;
  } else if (lead == wide + 1) {
    if (!read_big<std::uint32_t>(count)) return false;
  } else {
    return false;
  }
  return count <= left() / values_each;
}

bool MsgpackReader::read_bytes(std::string_view& bytes) noexcept {
  if (left() == 0) return false;
  const unsigned lead = static_cast<unsigned char>(*at_++);
  std::size_t size = 0;
  bool known = true;
  if ((lead & 0xE0) == 0xA0) {
    size = lead & 0x1F;
  } else if (lead == 0xC4 || lead == 0xD9) {
    known = read_big<std::uint8_t>(size);
  } else if (lead == 0xC5 || lead == 0xDA) {
    known = read_big<std::uint16_t>(size);
  } else if (lead == 0xC6 || lead == 0xDB) {
    known = read_big<std::uint32_t>(size);
  } else {
    known = false;
  }
  if (!known || size > left()) return false;
  bytes = {at_, size};
  at_ += size;
  return true;
}

// Counts the values still to pass over rather than descending, so that depth costs nothing.
bool MsgpackReader::skip() noexcept {
  for (std::uint64_t pending = 1; pending > 0; --pending) {
    if (!skip_head(pending)) return false;
  }
  return true;
}

bool MsgpackReader::skip_head(std::uint64_t& pending) noexcept {
  if (left() == 0) return false;
  const unsigned lead = static_cast<unsigned char>(*at_);
  std::size_t count = 0;
  if ((lead & 0xF0) == 0x80 || lead == 0xDE || lead == 0xDF) {
    if (!read_map(count)) return false;
    pending += 2 * count;
    return true;
  }
  if ((lead & 0xF0) == 0x90 || lead == 0xDC || lead == 0xDD) {
    if (!read_array(count)) return false;
    pending += count;
    return true;
  }
  if ((lead & 0xE0) == 0xA0 || (lead >= 0xC4 && lead <= 0xC6) || (lead >= 0xD9 && lead <= 0xDB)) {
    std::string_view bytes;
    return read_bytes(bytes);
  }
  ++at_;
  if (lead < 0x80 || lead >= 0xE0) return true;
  switch (lead) {
    case 0xC0:
    case 0xC2:
    case 0xC3: return true;  // nil, false, true
    case 0xCA:
    case 0xCE:
    case 0xD2: return advance(4);  // float 32, 32-bit integers
    case 0xCB:
    case 0xCF:
    case 0xD3: return advance(8);  // float 64, 64-bit integers
    case 0xCC:
    case 0xD0: return advance(1);
    case 0xCD:
    case 0xD1: return advance(2);
    case 0xC7: return read_big<std::uint8_t>(count) && advance(count + 1);  // ext, with its type byte
    case 0xC8: return read_big<std::uint16_t>(count) && advance(count + 1);
    case 0xC9: return read_big<std::uint32_t>(count) && advance(count + 1);
    case 0xD4:
    case 0xD5:
    case 0xD6:
    case 0xD7:
    case 0xD8:  // fixext 1, 2, 4, 8, 16
      return advance((std::size_t{1} << (lead - 0xD4)) + 1);
    default: return false;
  }
}

}  // namespace pepe
