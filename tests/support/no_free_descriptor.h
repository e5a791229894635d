#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace pepe {

/// While it lives, this process can open no descriptor. The limit is on a descriptor's number, not on how many are
/// open, and whoever started the test may have left gaps among them: the lowest free number is the one that counts.
class NoFreeDescriptor {
 public:
  NoFreeDescriptor() {
    getrlimit(RLIMIT_NOFILE, &old_);
    const int lowest_free = ::open("/dev/null", O_RDONLY);
    close(lowest_free);
    const rlimit low{static_cast<rlim_t>(lowest_free), old_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &low);
  }
  ~NoFreeDescriptor() { setrlimit(RLIMIT_NOFILE, &old_); }
  NoFreeDescriptor(const NoFreeDescriptor&) = delete;
  NoFreeDescriptor& operator=(const NoFreeDescriptor&) = delete;

 private:
  rlimit old_{};
};

}  // namespace pepe
