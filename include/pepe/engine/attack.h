#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pepe/base/expected.h"
#include "pepe/base/time.h"
#include "pepe/base/units.h"
#include "pepe/pacer/pacer.h"
#include "pepe/pacer/shard.h"
#include "pepe/result/run_facts.h"
#include "pepe/target/targeter.h"

namespace pepe {

/// -connect-to: connections for `from` ("host:port", text) go to the `to`s in turn.
struct ConnectTo {
  std::string from;
  std::vector<std::string> to;
};

struct TlsOptions {
  bool insecure{false};
  std::vector<std::string> root_cert_files{};  ///< PEM; empty: the system's.
  std::string cert_file{};
  std::string key_file{};  ///< Empty: the key is in cert_file.
  bool session_tickets{false};
};

/// What an attack does, apart from its targets and its schedule. Field by field the flags of `pepe attack`.
struct AttackOptions {
  std::string name{};                       ///< -name
  Rate rate{};                              ///< For RunFacts, on average; the schedule itself is the Pacer's
  std::string shape{};                      ///< -pacer in words, for RunFacts; empty: a constant rate
  Nanos duration{0};                        ///< -duration; 0 or less: until stopped
  Nanos warmup{0};                          ///< -warmup: so long before the start hits are sent, without results
  Shard shard{};                            ///< -shard
  std::optional<Timestamp> start_at{};      ///< -start-at
  Nanos timeout{std::chrono::seconds{30}};  ///< -timeout, for a whole hit; 0 or less: none
  std::uint64_t workers{10};                ///< -workers: accepted; connections are made when they are needed
  std::uint64_t max_workers{UINT64_MAX};    ///< -max-workers: hits in flight at once, over all threads
  std::int64_t connections{10000};          ///< -connections: idle ones kept for a host and port; 0 means 2
  std::int64_t max_connections{0};          ///< -max-connections for a host and port; 0 or less: no limit
  std::int64_t redirects{10};               ///< -redirects; -1: a 3xx is the answer
  std::int64_t max_body{-1};                ///< -max-body: bytes kept; -1: all
  bool keepalive{true};
  bool chunked{false};
  bool lazy{false};     ///< Targets are taken one for each hit as the list is read.
  unsigned threads{0};  ///< -threads; 0: auto
  unsigned cpus{0};     ///< -cpus: most threads that auto may start; 0: those this process may use
  std::string unix_socket{};
  std::string local_address{};  ///< -laddr, numeric; empty: the system chooses
  std::vector<ConnectTo> connect_to{};
  std::vector<std::string> resolvers{};  ///< "ip:port"
  Nanos dns_ttl{0};                      ///< -dns-ttl; 0: once per run; negative: no cache
  std::vector<HeaderField> proxy_headers{};
  TlsOptions tls{};
  bool http2{true};
  bool h2c{false};
  std::string prometheus_address{};
  bool handle_signals{false};        ///< SIGINT and SIGTERM: the first stops new hits, the second ends at once.
  std::vector<std::string> flags{};  ///< For RunFacts.
  std::string version{};             ///< For RunFacts and the User-Agent.
};

/// Where the chunks of results go: a file, a pipe, a transcoder. Called by one thread, the sink's.
class ChunkSink {
 public:
  virtual ~ChunkSink() = default;
  /// Takes one or more whole chunks of the native stream; at first the facts of the run, alone. May block. Error: the
  /// attack ends with it.
  virtual Expected<void> write(std::string_view chunks) = 0;
};

/// Live figures of a running attack, summed over its workers a few times a second.
struct AttackProgress {
  Nanos elapsed{0};       ///< Negative: before the start, in the warm-up or waiting for -start-at.
  std::uint64_t sent{0};  ///< Hits of the warm-up count in `in_flight` alone.
  std::uint64_t done{0};
  std::uint64_t failed{0};  ///< Results with an error text.
  std::uint64_t in_flight{0};
};

/// Callbacks of a running attack; each may be empty. Called on the thread that called attack().
struct AttackEvents {
  std::function<void(const AttackProgress&)> progress;  ///< About every 100 ms.
  std::function<void(std::string_view)> notice;         ///< One line for a person, as it happens.
  /// Makes a blocked Targeter::next() of a lazy list return soon. Called once, when no more targets are wanted.
  std::function<void()> cancel_targets;
};

/// What came of an attack as a whole.
struct AttackSummary {
  RunFacts facts;
  std::uint64_t failed{0};  ///< Results with an error text.
  /// Hits were due, at the end, whose targets the lazy list had not given yet.
  bool out_of_targets{false};
  /// A lazy target list that broke off, or was empty: its error. The results before it are whole.
  std::string targets_error;
};

/// Attacks: sends every hit that `pacer` schedules within the duration, writes each result to `sink` in order of
/// completion, and returns when the last answer is in. A failed hit is a result, never an Error.
/// Borrows its arguments for the call. Error: bad options (before the first hit), or the sink's.
Expected<AttackSummary> attack(const AttackOptions& options, Targeter& targeter, const Pacer& pacer, ChunkSink& sink,
                               const AttackEvents& events);

}  // namespace pepe
