#include "bench/floor_load.h"

#include <unistd.h>

#include <cerrno>

namespace pepe {

FloorLoad::~FloorLoad() {
  if (epoll_ >= 0) close(epoll_);
}

Expected<void> FloorLoad::prepare() {
  if (options_.port == 0 || options_.port > UINT16_MAX) return Error{"-port is needed"};
  if (options_.connections == 0) return Error{"-connections is 0"};
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ < 0) return system_error("epoll", errno);
  if (!options_.tls) return {};
  auto context = make_client_context();
  if (!context) return std::move(context).error();
  tls_ = std::move(context).value();
  return {};
}

bool FloorLoad::over(Instant now) noexcept {
  elapsed_ = now - start_;
  return options_.requests > 0 ? done_ >= options_.requests : elapsed_ >= options_.duration;
}

}  // namespace pepe
