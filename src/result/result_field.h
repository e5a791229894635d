#pragma once

#include <cstdint>

namespace pepe {

/// What a named field of a foreign record means to us.
enum class ResultField : std::uint8_t {
  kUnknown,
  kAttack,
  kSeq,
  kCode,
  kTimestamp,
  kLatency,
  kBytesOut,
  kBytesIn,
  kError,
  kBody,
  kMethod,
  kUrl,
  kHeaders,
};

}  // namespace pepe
