#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "pepe/engine/attack.h"
#include "pepe/result/stream.h"

namespace pepe {

/// Keeps what an attack writes.
struct StringSink final : ChunkSink {
  Expected<void> write(std::string_view chunks) override {
    bytes.append(chunks);
    return {};
  }
  std::string bytes;
};

/// `bytes` as an input of results. They outlive its reader.
inline ResultInput input_of(const std::string& bytes) {
  return {"bytes", [&bytes, at = std::size_t{0}](std::span<char> buffer) mutable -> Expected<std::size_t> {
            const std::size_t size = bytes.copy(buffer.data(), buffer.size(), at);
            at += size;
            return size;
          }};
}

}  // namespace pepe
