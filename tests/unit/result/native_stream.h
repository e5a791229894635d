#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pepe/result/chunk_writer.h"
#include "result/chunk_format.h"
#include "result/msgpack_codec.h"
#include "support/codec_harness.h"

namespace pepe {

/// The open chunk of `writer`.
inline std::string taken(ChunkWriter& writer) {
  std::string out;
  writer.take(out);
  return out;
}

/// A chunk with `payload`.
inline std::string framed(std::string_view payload) {
  std::string out;
  const std::size_t payload_at = open_chunk(out);
  out += payload;
  close_chunk(out, payload_at);
  return out;
}

inline Decoded decode_native(std::string_view bytes, std::size_t step = std::string_view::npos,
                             DecodeOptions options = {}) {
  return decode_all(make_msgpack_decoder, bytes, step, options);
}

/// A successful GET with three header lines, as most hits are.
class PlainOutcome {
 public:
  PlainOutcome() {
    outcome.attack = "plain";
    outcome.method = "GET";
    outcome.url = "http://127.0.0.1:8080/";
    outcome.code = 200;
    outcome.bytes_in = 100;
    outcome.bytes_read = 100;
    outcome.headers = headers_;
    outcome.has_headers = true;
    outcome.reused = true;
  }
  PlainOutcome(const PlainOutcome&) = delete;
  PlainOutcome& operator=(const PlainOutcome&) = delete;

  Outcome outcome;

 private:
  HeaderView headers_[3] = {{"Content-Type", "text/plain"}, {"Content-Length", "100"}, {"Date", "Sun, 01 Mar 2026"}};
};

}  // namespace pepe
