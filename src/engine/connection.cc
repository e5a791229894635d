// HOT: once per hit. No allocation, lock, log or wall clock.
#include "engine/connection.h"

#include <charconv>

namespace pepe {

std::string_view RequestWriter::write(const Request& request, std::uint64_t seq) {
  char digits[20];
  const auto count = static_cast<std::size_t>(std::to_chars(digits, digits + sizeof digits, seq).ptr - digits);
  if (last_ == &request && count == digits_) {
    bytes_.replace(request.head.size(), count, digits, count);
    return bytes_;
  }
  bytes_.assign(request.head).append(digits, count).append(request.tail);
  last_ = &request;
  digits_ = count;
  return bytes_;
}

std::unique_ptr<Response> ResponseStash::take() {
  if (free_.empty()) return std::make_unique<Response>();
  auto response = std::move(free_.back());
  free_.pop_back();
  return response;
}

void ResponseStash::give_back(std::unique_ptr<Response> response) {
  constexpr std::size_t kSpares = 64;
  response->reset();
  if (free_.size() < kSpares) free_.push_back(std::move(response));
}

}  // namespace pepe
