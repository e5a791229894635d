#pragma once

#include <cstdint>
#include <string_view>

namespace pepe {

/// CRC32C (Castagnoli: polynomial 0x1EDC6F41, reflected, initial value and final xor ~0; RFC 3720 B.4) of `bytes`.
/// Uses the processor's instruction where there is one.
std::uint32_t crc32c(std::string_view bytes) noexcept;

/// The same by tables alone, on any processor.
std::uint32_t crc32c_portable(std::string_view bytes) noexcept;

}  // namespace pepe
