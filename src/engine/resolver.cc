#include "engine/resolver.h"

#include <algorithm>
#include <utility>

namespace pepe {
namespace {

// Names come from target lists, which may have no end: beyond this many the cache starts afresh.
constexpr std::size_t kMaxNames = 10'000;

}  // namespace

NameCache::Entry& NameCache::entry(const std::string& name) {
  const auto known = entries_.find(name);
  if (known != entries_.end()) return known->second;
  if (entries_.size() >= kMaxNames) entries_.clear();
  return entries_[name];
}

std::optional<NameCache::Answer> NameCache::find(const std::string& name, Instant now) const {
  if (ttl_ < Nanos{0}) return std::nullopt;
  const std::lock_guard lock{mutex_};
  const auto known = entries_.find(name);
  if (known == entries_.end() || known->second.addresses.empty()) return std::nullopt;
  const bool fresh = ttl_ == Nanos{0} || now - known->second.stored < ttl_;
  return Answer{known->second.addresses, fresh};
}

void NameCache::store(const std::string& name, const Addresses& addresses, Instant now) {
  if (ttl_ < Nanos{0}) return;
  const std::lock_guard lock{mutex_};
  Entry& known = entry(name);
  known.addresses = addresses;
  known.stored = now;
}

bool NameCache::lists(const std::string& name, const asio::ip::address& address) const {
  const std::lock_guard lock{mutex_};
  const auto known = entries_.find(name);
  if (known == entries_.end() || known->second.addresses.empty()) return true;
  const Addresses& listed = known->second.addresses;
  return std::find(listed.begin(), listed.end(), address) != listed.end();
}

Addresses NameCache::order(const std::string& name, const Addresses& addresses) {
  if (addresses.size() < 2) return addresses;
  std::uint32_t turn = 0;
  bool v6_first = addresses.front().is_v6();
  {
    const std::lock_guard lock{mutex_};
    Entry& known = entry(name);
    turn = known.turn++;
    v6_first = known.prefers_v6.value_or(v6_first);
  }
  Addresses families[2];
  for (const asio::ip::address& address : addresses) families[address.is_v6() == v6_first ? 0 : 1].push_back(address);
  for (Addresses& family : families) {
    if (family.empty()) continue;
    std::rotate(family.begin(), family.begin() + static_cast<std::ptrdiff_t>(turn % family.size()), family.end());
  }
  Addresses ordered;
  ordered.reserve(addresses.size());
  for (std::size_t i = 0; ordered.size() < addresses.size(); ++i) {
    for (const Addresses& family : families) {
      if (i < family.size()) ordered.push_back(family[i]);
    }
  }
  return ordered;
}

void NameCache::connected(const std::string& name, const asio::ip::address& address) {
  const std::lock_guard lock{mutex_};
  entry(name).prefers_v6 = address.is_v6();
}

Resolver::Id Resolver::resolve(const std::string& name, Done done) {
  const Id id = ++last_id_;
  waiting_.emplace(id, std::move(done));
  if (std::optional<NameCache::Answer> known = cache_.find(name, Clock::now())) {
    if (!known->fresh) ask(name);
    asio::post(io_, [this, id, addresses = std::move(known->addresses)] { finish(id, addresses); });
    return id;
  }
  ask(name);
  asked_[name].push_back(id);
  return id;
}

void Resolver::refresh(const std::string& name) {
  const std::optional<NameCache::Answer> known = cache_.find(name, Clock::now());
  if (known && !known->fresh) ask(name);
}

void Resolver::ask(const std::string& name) {
  if (!asked_.try_emplace(name).second) return;
  try {
    service_->lookup(name, [this, name](const Expected<Addresses>& answer) { on_answer(name, answer); });
  } catch (...) {
    // Else the name would count as being asked for, for ever.
    asked_.erase(name);
    throw;
  }
}

void Resolver::on_answer(const std::string& name, const Expected<Addresses>& answer) {
  // A refresh that fails keeps the last good answer; the next use asks again.
  if (answer) cache_.store(name, *answer, Clock::now());
  const auto asked = asked_.extract(name);
  if (asked.empty()) return;
  for (const Id id : asked.mapped()) finish(id, answer);
}

void Resolver::finish(Id id, const Expected<Addresses>& answer) {
  auto waiting = waiting_.extract(id);
  if (!waiting.empty()) waiting.mapped()(answer);
}

}  // namespace pepe
