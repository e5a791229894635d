#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "bench/flags.h"
#include "bench/process.h"
#include "bench/server.h"

namespace {

int fail(const pepe::Error& error) {
  std::fprintf(stderr, "server: %s\n", error.text().c_str());
  return 2;
}

// A descriptor with something to read once the program is to end: told to, or out of time, so that a server that was
// left behind goes away.
int stop_descriptor(pepe::Nanos duration) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGALRM}) sigaddset(&signals, signal);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  alarm(static_cast<unsigned>(std::chrono::ceil<std::chrono::seconds>(duration).count()));
  return signalfd(-1, &signals, SFD_CLOEXEC);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace pepe;
  ServerOptions options;
  Nanos duration{std::chrono::minutes{30}};
  Flags flags;
  flags.add("port", &options.port, "port to listen on; 0: the system picks one (default)");
  flags.add("size", &options.size, "bytes of each body (128)");
  flags.add("delay", &options.delay, "time before each answer: 50ms");
  flags.add("unique", &options.unique, "every body is different");
  flags.add("tls", &options.tls, "HTTPS with a certificate made at the start");
  flags.add("http2", &options.http2, "HTTP/2 for clients that ask for it");
  flags.add("streams", &options.streams, "streams of an HTTP/2 connection at a time (100)");
  flags.add("ca", &options.pem_file, "file to write that certificate to");
  flags.add("duration", &duration, "stops by itself after this (30m)");
  std::uint64_t core = UINT64_MAX;
  flags.add("cpu", &core, "core to stay on");
  if (const auto parsed = flags.parse(argc, argv); !parsed) return fail(parsed.error());
  raise_limits();
  if (core != UINT64_MAX)
    if (const auto pinned = pin_to_cpu(core); !pinned) return fail(pinned.error());

  std::signal(SIGPIPE, SIG_IGN);

  Server server{std::move(options)};
  if (const auto listening = server.listen(); !listening) return fail(listening.error());
  std::printf("listening on 127.0.0.1:%u\n", server.port());
  std::fflush(stdout);
  if (const auto ran = server.run(stop_descriptor(duration)); !ran) return fail(ran.error());
  const ProcessUsage usage = process_usage();
  const double requests = static_cast<double>(server.requests());
  std::printf("{\"requests\":%llu,\"connections\":%llu,\"cpu_us_per_request\":%.3f,\"peak_rss_kb\":%llu}\n",
              static_cast<unsigned long long>(server.requests()), static_cast<unsigned long long>(server.connections()),
              requests > 0 ? usage.cpu_seconds() * 1e6 / requests : 0.0,
              static_cast<unsigned long long>(usage.peak_rss_kb));
  return 0;
}
