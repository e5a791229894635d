#include "bench/micro/harness.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "pepe/base/time.h"

namespace {

std::uint64_t allocation_count = 0;

}  // namespace

// One thread measures, so that a plain counter does.
void* operator new(std::size_t size) {
  ++allocation_count;
  if (void* memory = std::malloc(size > 0 ? size : 1)) return memory;
  std::abort();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace pepe {
namespace {

constexpr int kRounds = 7;

/// Instructions of this thread in user space; reads 0 where perf events are not allowed.
class InstructionCounter {
 public:
  InstructionCounter() {
    perf_event_attr attributes{};
    attributes.type = PERF_TYPE_HARDWARE;
    attributes.size = sizeof attributes;
    attributes.config = PERF_COUNT_HW_INSTRUCTIONS;
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    fd_ = static_cast<int>(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0));
  }
  ~InstructionCounter() {
    if (fd_ >= 0) close(fd_);
  }
  InstructionCounter(const InstructionCounter&) = delete;
  InstructionCounter& operator=(const InstructionCounter&) = delete;

  std::uint64_t read_count() const {
    std::uint64_t count = 0;
    return fd_ >= 0 && read(fd_, &count, sizeof count) == sizeof count ? count : 0;
  }

 private:
  int fd_;
};

}  // namespace

MicroCost measure_micro(std::uint64_t operations, const std::function<void()>& batch) {
  static const InstructionCounter counter;
  batch();
  MicroCost best{.nanos = 1e18};
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t allocations = allocation_count;
    const std::uint64_t instructions = counter.read_count();
    const Instant start = Clock::now();
    batch();
    const double n = static_cast<double>(operations);
    const double nanos = static_cast<double>((Clock::now() - start).count()) / n;
    best.nanos = std::min(best.nanos, nanos);
    best.allocations = static_cast<double>(allocation_count - allocations) / n;
    best.instructions = static_cast<double>(counter.read_count() - instructions) / n;
  }
  return best;
}

void print_micro(const std::string& name, const MicroCost& cost) {
  std::printf("%-32s %10.1f ns %10.3f allocations", name.c_str(), cost.nanos, cost.allocations);
  if (cost.instructions > 0) std::printf(" %10.0f instructions", cost.instructions);
  std::printf("\n");
}

}  // namespace pepe
