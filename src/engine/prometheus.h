#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "pepe/base/expected.h"
#include "pepe/engine/attack.h"

namespace pepe {

/// Serves the figures of a running attack to Prometheus (-prometheus-addr). It sees the results as chunks on
/// their way to the output, on the thread of the sink, so that hits pay nothing for it; scrapes are answered
/// on a thread of its own. Its end closes the endpoint.
class PrometheusExporter : public ChunkSink {
 public:
  /// The port that it listens on; the one that the system chose when the address has port 0.
  virtual std::uint16_t port() const noexcept = 0;
};

/// Listens on `address`: "HOST:PORT", "[ADDRESS]:PORT" or ":PORT" (all addresses). `out` gets every chunk and
/// outlives the exporter. Error: `prometheus: listen tcp ADDRESS: bind: address already in use`, or what is
/// wrong with `address`.
Expected<std::unique_ptr<PrometheusExporter>> make_prometheus_exporter(const std::string& address, ChunkSink& out);

}  // namespace pepe
