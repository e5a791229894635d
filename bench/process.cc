#include "bench/process.h"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <cerrno>
#include <fstream>
#include <string>

namespace pepe {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

// VmHWM rather than ru_maxrss: the latter starts at the peak of whoever forked this process.
std::uint64_t peak_rss_kb() {
  std::ifstream status{"/proc/self/status"};
  for (std::string word; status >> word;) {
    std::uint64_t kb = 0;
    if (word == "VmHWM:" && status >> kb) return kb;
  }
  return 0;
}

}  // namespace

ProcessUsage process_usage() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return {
      .user_seconds = seconds(usage.ru_utime), .system_seconds = seconds(usage.ru_stime), .peak_rss_kb = peak_rss_kb()};
}

Expected<void> pin_to_cpu(std::uint64_t cpu) {
  if (cpu >= CPU_SETSIZE) return Error{"no such core: " + std::to_string(cpu)};
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) return system_error("core " + std::to_string(cpu), errno);
  return {};
}

void raise_limits() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  prctl(PR_SET_TIMERSLACK, 1);
}

}  // namespace pepe
