#pragma once

#include <cstddef>
#include <string_view>

#include "pepe/result/codec.h"

namespace pepe {

/// A record longer than this is not decoded.
inline constexpr std::size_t kMaxRecordBytes = std::size_t{1} << 30;

/// Moves over a byte order mark that the stream begins with. False: more bytes are needed to tell.
bool skip_byte_order_mark(InputWindow& in);

/// Detection by trial: a stream is of an encoding when its first record can be decoded. A first record that
/// is not whole in 64 KiB counts as found when nothing was wrong so far: a response body may be of any size.
CodecEntry::Match probe(Decoder& decoder, std::string_view head, bool at_end);

}  // namespace pepe
