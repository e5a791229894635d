#include "engine/body_collector.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace pepe {
namespace {

// A collector keeps a buffer up to this size for the next body.
constexpr std::size_t kSpareBytes = 256 * 1024;
// Buffers below this size are not worth counting.
constexpr std::size_t kCountedFrom = 16 * 1024;

}  // namespace

void BodyCollector::start(BodyRef candidate, std::uint64_t limit) {
  candidate_ = std::move(candidate);
  matching_ = static_cast<bool>(candidate_);
  shortage_ = Shortage::kNone;
  limit_ = limit;
  kept_ = 0;
  copy_.clear();
}

bool BodyCollector::append(std::string_view bytes) {
  bytes = bytes.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), limit_ - kept_)));
  if (bytes.empty()) return true;
  const auto at = static_cast<std::size_t>(kept_);
  if (matching_) {
    const std::string_view known = candidate_.bytes();
    if (known.size() - at >= bytes.size() && std::memcmp(known.data() + at, bytes.data(), bytes.size()) == 0) {
      kept_ += bytes.size();
      return true;
    }
  }
  if (at + bytes.size() > copy_.capacity() && !make_room(at + bytes.size())) return false;
  if (matching_) {
    matching_ = false;
    copy_.assign(candidate_.bytes().substr(0, at));
  }
  copy_.append(bytes);
  kept_ += bytes.size();
  return true;
}

// A copy that has `size` bytes or more of memory. False: there is none; the body is dropped.
bool BodyCollector::make_room(std::size_t size) {
  const std::size_t capacity = std::max(size, 2 * copy_.capacity());
  const std::uint64_t more = capacity < kCountedFrom ? 0 : capacity - charged_;
  if (more > 0 && budget_ != nullptr) {
    if (!budget_->take(more)) {
      drop();
      shortage_ = Shortage::kBudget;
      return false;
    }
    charged_ += more;
  }
  try {
    copy_.reserve(capacity);
    return true;
  } catch (const std::bad_alloc&) {
    drop();
    shortage_ = Shortage::kMemory;
    return false;
  }
}

std::string BodyCollector::shortage() const {
  if (shortage_ == Shortage::kBudget)
    return fmt::format(
        "out of memory: the response bodies of all hits in flight are over the limit of {} bytes "
        "(-max-body keeps less of each)",
        budget_->limit());
  return shortage_ == Shortage::kMemory ? "out of memory: the response body does not fit" : std::string{};
}

std::string_view BodyCollector::bytes() const noexcept {
  return matching_ ? candidate_.bytes().substr(0, static_cast<std::size_t>(kept_)) : std::string_view{copy_};
}

void BodyCollector::reset() {
  candidate_ = {};
  matching_ = false;
  kept_ = 0;
  if (copy_.capacity() > kSpareBytes) drop_copy();
  copy_.clear();
}

void BodyCollector::drop() {
  reset();
  drop_copy();
}

void BodyCollector::drop_copy() noexcept {
  std::string{}.swap(copy_);
  if (budget_ != nullptr && charged_ > 0) budget_->give_back(charged_);
  charged_ = 0;
}

}  // namespace pepe
