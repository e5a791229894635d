#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/asio.h"
#include "pepe/base/expected.h"
#include "pepe/base/time.h"

namespace pepe {

using Addresses = std::vector<asio::ip::address>;

/// What is known about names, for all workers together. Thread-safe: one small lock, taken once per new
/// connection.
class NameCache {
 public:
  /// `ttl` as in -dns-ttl: 0 keeps an answer for the whole run, above 0 asks again after that time, below 0
  /// keeps none.
  explicit NameCache(Nanos ttl) : ttl_{ttl} {}

  struct Answer {
    Addresses addresses;
    bool fresh{true};  ///< false: older than the TTL; usable, but to be asked for again.
  };
  std::optional<Answer> find(const std::string& name, Instant now) const;
  void store(const std::string& name, const Addresses& addresses, Instant now);
  /// False when the last answer for `name` leaves `address` out. True without an answer.
  bool lists(const std::string& name, const asio::ip::address& address) const;

  /// `addresses` in the order to try them for the next connection: families in turn, the one that worked last
  /// in front; within a family each connection starts one further along, so that load spreads.
  Addresses order(const std::string& name, const Addresses& addresses);
  /// Remembers the family of a connection that came about.
  void connected(const std::string& name, const asio::ip::address& address);

  Nanos ttl() const noexcept { return ttl_; }

 private:
  struct Entry {
    Addresses addresses;
    Instant stored{};
    std::uint32_t turn{0};
    std::optional<bool> prefers_v6;
  };
  Entry& entry(const std::string& name);

  const Nanos ttl_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Entry> entries_;
};

/// Asks for the addresses of names: the system, or name servers of our own choice.
class NameService {
 public:
  using Done = std::function<void(Expected<Addresses>)>;

  virtual ~NameService() = default;
  /// `done` runs on the io_context, never inside lookup(); not at all once the service is gone. Error:
  /// `lookup NAME on SERVER:53: no such host`.
  virtual void lookup(const std::string& name, Done done) = 0;
};

/// getaddrinfo on threads of its own. A lookup cannot be cut short, so the threads are detached: a name
/// server that does not answer must not hold up the end of the run.
std::unique_ptr<NameService> make_system_names(asio::io_context& io);

/// The name servers `servers` ("ip:port", at least one), asked in turn from the second on; one that is silent
/// is passed over. The hosts file comes first; search domains are the system's.
Expected<std::unique_ptr<NameService>> make_ares_names(asio::io_context& io, const std::vector<std::string>& servers);

/// The names of one worker: the shared cache in front of a NameService, and one question at a time for each
/// name. Used on the io_context's thread only.
class Resolver {
 public:
  using Id = std::uint64_t;
  using Done = NameService::Done;

  Resolver(asio::io_context& io, NameCache& cache, std::unique_ptr<NameService> service)
      : io_{io}, cache_{cache}, service_{std::move(service)} {}

  /// `done` runs on the io_context, never inside resolve().
  Id resolve(const std::string& name, Done done);
  /// The waiting `done` will not run. The question goes on: others, or the cache, may use its answer.
  void cancel(Id id) { waiting_.erase(id); }
  /// Asks again in the background when the cached answer for `name` is older than the TTL.
  void refresh(const std::string& name);
  /// No question is under way.
  bool idle() const noexcept { return asked_.empty() && waiting_.empty(); }

 private:
  void ask(const std::string& name);
  void on_answer(const std::string& name, const Expected<Addresses>& answer);
  void finish(Id id, const Expected<Addresses>& answer);

  asio::io_context& io_;
  NameCache& cache_;
  std::unique_ptr<NameService> service_;
  Id last_id_{0};
  std::unordered_map<Id, Done> waiting_;
  std::map<std::string, std::vector<Id>> asked_;  ///< Questions under way and who waits for them.
};

}  // namespace pepe
