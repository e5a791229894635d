#include <csignal>
#include <cstdio>

#include "bench/flags.h"
#include "bench/process.h"
#include "bench/server.h"

namespace {

volatile int stopped = 0;

int fail(const pepe::Error& error) {
  std::fprintf(stderr, "server: %s\n", error.text().c_str());
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace pepe;
  ServerOptions options;
  Flags flags;
  flags.add("port", &options.port, "port to listen on; 0: the system picks one (default)");
  flags.add("size", &options.size, "bytes of each body (128)");
  flags.add("delay", &options.delay, "time before each answer: 50ms");
  flags.add("unique", &options.unique, "every body is different");
  flags.add("tls", &options.tls, "HTTPS with a certificate made at the start");
  flags.add("ca", &options.pem_file, "file to write that certificate to");
  flags.add("duration", &options.duration, "stops by itself after this (30m)");
  std::uint64_t core = UINT64_MAX;
  flags.add("cpu", &core, "core to stay on");
  if (const auto parsed = flags.parse(argc, argv); !parsed) return fail(parsed.error());
  raise_limits();
  if (core != UINT64_MAX)
    if (const auto pinned = pin_to_cpu(core); !pinned) return fail(pinned.error());

  struct sigaction action {};
  action.sa_handler = [](int) { stopped = 1; };
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);

  Server server{std::move(options)};
  if (const auto listening = server.listen(); !listening) return fail(listening.error());
  std::printf("listening on 127.0.0.1:%u\n", server.port());
  std::fflush(stdout);
  server.run(&stopped);
  const ProcessUsage usage = process_usage();
  const double requests = static_cast<double>(server.requests());
  std::printf("{\"requests\":%llu,\"connections\":%llu,\"cpu_us_per_request\":%.3f,\"peak_rss_kb\":%llu}\n",
              static_cast<unsigned long long>(server.requests()), static_cast<unsigned long long>(server.connections()),
              requests > 0 ? usage.cpu_seconds() * 1e6 / requests : 0.0, static_cast<unsigned long long>(usage.peak_rss_kb));
  return 0;
}
