#include "engine/inflater.h"

#include <zlib.h>

#include <array>

#include "pepe/base/check.h"

namespace pepe {

struct Inflater::State {
  z_stream stream{};
  bool ended{false};
  std::array<char, 16 * 1024> window;
};

Inflater::Inflater() : state_{std::make_unique<State>()} {
  constexpr int kGzipOnly = 16 + MAX_WBITS;
  PEPE_CHECK(::inflateInit2(&state_->stream, kGzipOnly) == Z_OK);
}

Inflater::~Inflater() {
  if (state_) ::inflateEnd(&state_->stream);
}

Inflater::Inflater(Inflater&&) noexcept = default;

bool Inflater::append(std::string_view packed, const std::function<void(std::string_view)>& out) {
  z_stream& stream = state_->stream;
  // zlib's interface is not const-correct; it only reads.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  while (stream.avail_in > 0) {
    // Members may follow one another (RFC 1952 2.2).
    if (state_->ended) {
      if (::inflateReset(&stream) != Z_OK) return false;
      state_->ended = false;
    }
    int status = Z_OK;
    do {
      stream.next_out = reinterpret_cast<Bytef*>(state_->window.data());
      stream.avail_out = static_cast<uInt>(state_->window.size());
      status = ::inflate(&stream, Z_NO_FLUSH);
      if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) return false;
      out({state_->window.data(), state_->window.size() - stream.avail_out});
    } while (stream.avail_out == 0 && status == Z_OK);
    state_->ended = status == Z_STREAM_END;
    if (status == Z_BUF_ERROR) break;
  }
  return true;
}

bool Inflater::complete() const noexcept { return state_->ended; }

}  // namespace pepe
