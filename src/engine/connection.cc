// HOT: once per hit. No allocation, lock, log or wall clock.
#include "engine/connection.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>

#include "engine/socket_text.h"

namespace pepe {

std::string_view RequestWriter::write(const Request& request, std::uint64_t seq) {
  char digits[20];
  const auto count = static_cast<std::size_t>(std::to_chars(digits, digits + sizeof digits, seq).ptr - digits);
  if (last_ == &request && count == digits_) {
    std::memcpy(bytes_.data() + request.head.size(), digits, count);
    return bytes_;
  }
  bytes_.assign(request.head).append(digits, count).append(request.tail);
  last_ = &request;
  digits_ = count;
  return bytes_;
}

std::unique_ptr<Response> ResponseStash::take() {
  if (free_.empty()) return std::make_unique<Response>(budget_);
  auto response = std::move(free_.back());
  free_.pop_back();
  return response;
}

void ResponseStash::give_back(std::unique_ptr<Response> response) {
  response->reset();
  if (free_.size() < kSpares) free_.push_back(std::move(response));
}

ResponseExpectation expectation_for(const Hit& hit, std::uint64_t keep_limit) {
  return {.to_head = hit.request->is_head,
          .inflate = hit.request->inflate,
          .keep_limit = keep_limit,
          .candidate = hit.target->cache.body};
}

std::string socket_failure(const char* call, int fd, int error, std::string_view peer) {
  return fmt::format("{} tcp {}->{}: {}: {}", call, local_address_text(fd), peer, call, errno_text(error));
}

}  // namespace pepe
