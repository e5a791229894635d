#include "result/input_buffer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "result/chunk_format.h"

namespace pepe {
namespace {

#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
// Inputs are small there, and are to reach what grows and moves all the same.
constexpr std::size_t kReadBytes = 128;
#else
constexpr std::size_t kReadBytes = std::size_t{256} << 10;
#endif
constexpr std::size_t kFirstCapacity = 2 * kReadBytes;
// One chunk, the head of the next, and what a read brings.
constexpr std::size_t kMaxCapacity = kMaxPayload + 4 * kReadBytes;

}  // namespace

Expected<void> InputBuffer::fill() {
  if (auto room = make_room(); !room) return room;
  const std::size_t filled = window_.bytes.size();
  const Expected<std::size_t> got = read_({data_.get() + filled, std::min(capacity_ - filled, kReadBytes)});
  if (!got) return got.error();
  window_.bytes = {data_.get(), filled + *got};
  window_.at_end = *got == 0;
  return {};
}

Expected<void> InputBuffer::make_room() {
  const std::string_view rest = window_.rest();
  if (capacity_ - window_.bytes.size() >= kReadBytes) return {};
  if (capacity_ < rest.size() + kReadBytes) {
    if (capacity_ >= kMaxCapacity)
      return Error{fmt::format("byte {}: a record is too large", window_.offset + window_.pos)};
    const std::size_t capacity = std::clamp(2 * capacity_, kFirstCapacity, kMaxCapacity);
    std::unique_ptr<char[]> data{new char[capacity]};
    if (!rest.empty()) std::memcpy(data.get(), rest.data(), rest.size());
    data_ = std::move(data);
    capacity_ = capacity;
  } else if (!rest.empty()) {
    std::memmove(data_.get(), rest.data(), rest.size());
  }
  window_.offset += window_.pos;
  window_.pos = 0;
  window_.bytes = {data_.get(), rest.size()};
  return {};
}

}  // namespace pepe
