#include "engine/inflater.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <string>
#include <utility>

namespace pepe {
namespace {

// Output of one call: less than a millisecond's work.
constexpr std::size_t kSliceBytes = 256 * 1024;

}  // namespace

struct Inflater::State {
  Status unpack(std::string_view& packed, const Out& out);
  int unpack_window(std::string_view& packed);

  z_stream stream{};
  bool usable{false};
  bool ended{false};        // a member of the stream came to its end
  bool window_full{false};  // there may be output that needs no more input
  std::string backlog;
  std::size_t backlog_at{0};
  std::array<char, 16 * 1024> window;
};

Inflater::Inflater() : state_{std::make_unique<State>()} {
  constexpr int kGzipOnly = 16 + MAX_WBITS;
  state_->usable = ::inflateInit2(&state_->stream, kGzipOnly) == Z_OK;
}

Inflater::~Inflater() {
  if (state_ && state_->usable) ::inflateEnd(&state_->stream);
}

Inflater::Inflater(Inflater&&) noexcept = default;

Inflater::Status Inflater::append(std::string_view packed, const Out& out) {
  Status status = Status::kBusy;
  if (!busy()) {
    status = state_->unpack(packed, out);
    if (status != Status::kBusy) return status;
    state_->backlog.clear();
    state_->backlog_at = 0;
  }
  try {
    state_->backlog.append(packed);
  } catch (const std::bad_alloc&) {
    return Status::kNoMemory;
  }
  return status;
}

Inflater::Status Inflater::go_on(const Out& out) {
  std::string_view packed = std::string_view{state_->backlog}.substr(state_->backlog_at);
  const Status status = state_->unpack(packed, out);
  state_->backlog_at = state_->backlog.size() - packed.size();
  return status;
}

// Unpacks into the window once. zlib's status.
int Inflater::State::unpack_window(std::string_view& packed) {
  // zlib's interface is not const-correct; it only reads.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  const std::size_t given = std::min<std::size_t>(packed.size(), std::numeric_limits<uInt>::max());
  stream.avail_in = static_cast<uInt>(given);
  stream.next_out = reinterpret_cast<Bytef*>(window.data());
  stream.avail_out = static_cast<uInt>(window.size());
  const int status = ::inflate(&stream, Z_NO_FLUSH);
  packed.remove_prefix(given - stream.avail_in);
  return status;
}

Inflater::Status Inflater::State::unpack(std::string_view& packed, const Out& out) {
  if (!usable) return Status::kNoMemory;
  for (std::size_t made = 0; window_full || !packed.empty();) {
    if (made >= kSliceBytes) return Status::kBusy;
    // Members may follow one another (RFC 1952 2.2).
    if (std::exchange(ended, false) && ::inflateReset(&stream) != Z_OK) return Status::kCorrupt;
    const int status = unpack_window(packed);
    if (status == Z_MEM_ERROR) return Status::kNoMemory;
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) return Status::kCorrupt;
    const std::size_t size = window.size() - stream.avail_out;
    made += size;
    ended = status == Z_STREAM_END;
    window_full = status == Z_OK && stream.avail_out == 0;
    if (size > 0 && !out({window.data(), size})) return Status::kStopped;
    if (status == Z_BUF_ERROR) break;
  }
  return Status::kDone;
}

bool Inflater::busy() const noexcept { return state_->window_full || state_->backlog_at < state_->backlog.size(); }

bool Inflater::complete() const noexcept { return state_->ended && !busy(); }

}  // namespace pepe
