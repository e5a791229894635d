#include "result/body_table.h"

#include <utility>

#include "result/chunk_format.h"
#include "result/hash.h"

namespace pepe {
namespace {

constexpr std::size_t kFirstBuckets = 64;
// Bodies in use are passed over in search of one that may go; a table full of them is given up on soon.
constexpr int kMaxPassedOver = 64;

std::size_t cost_of(std::size_t body_bytes) noexcept { return body_bytes + kBodyOverhead; }

}  // namespace

BodyTable::BodyTable(std::size_t max_bytes, std::uint64_t seed)
    : max_bytes_{max_bytes}, seed_{seed}, buckets_(kFirstBuckets, nullptr) {}

BodyTable::~BodyTable() {
  for (StoredBody* body = newest_; body != nullptr;) delete std::exchange(body, body->older);
}

StoredBody* BodyTable::find_or_store(std::string_view bytes, std::uint64_t& next_id,
                                     std::vector<std::uint64_t>& dropped) {
  if (bytes.size() > max_bytes_ / 4) return nullptr;
  const std::uint64_t hash = hash_bytes(bytes, seed_);
  for (StoredBody* body = bucket(hash); body != nullptr; body = body->next_in_bucket) {
    if (body->hash != hash || body->bytes != bytes) continue;
    unlink(body);
    link_newest(body);
    return body;
  }
  if (!make_room(cost_of(bytes.size()), dropped)) return nullptr;
  std::unique_ptr<StoredBody> body = spare_ ? std::move(spare_) : std::make_unique<StoredBody>();
  if (body->bytes.capacity() / 2 > bytes.size()) body->bytes = std::string{};
  body->bytes.assign(bytes);
  body->id = next_id++;
  body->hash = hash;
  body->in_stream = false;
  body->next_in_bucket = std::exchange(bucket(hash), body.get());
  link_newest(body.get());
  used_bytes_ += cost_of(bytes.size());
  StoredBody* const stored = body.release();
  if (++count_ > buckets_.size()) grow_buckets();
  return stored;
}

bool BodyTable::make_room(std::size_t cost, std::vector<std::uint64_t>& dropped) {
  int passed_over = 0;
  while (used_bytes_ + cost > max_bytes_ && oldest_ != nullptr) {
    StoredBody* body = oldest_;
    if (body->users == 0 && !body->in_open_chunk) {
      evict(body, dropped);
      continue;
    }
    if (++passed_over > kMaxPassedOver) return false;
    unlink(body);
    link_newest(body);
  }
  return used_bytes_ + cost <= max_bytes_;
}

void BodyTable::evict(StoredBody* body, std::vector<std::uint64_t>& dropped) {
  if (body->in_stream) dropped.push_back(body->id);
  StoredBody** link = &bucket(body->hash);
  while (*link != body) link = &(*link)->next_in_bucket;
  *link = body->next_in_bucket;
  unlink(body);
  used_bytes_ -= cost_of(body->bytes.size());
  --count_;
  spare_.reset(body);
}

void BodyTable::grow_buckets() {
  buckets_.assign(buckets_.size() * 2, nullptr);
  for (StoredBody* body = newest_; body != nullptr; body = body->older) {
    body->next_in_bucket = std::exchange(bucket(body->hash), body);
  }
}

void BodyTable::link_newest(StoredBody* body) noexcept {
  body->newer = nullptr;
  body->older = newest_;
  (newest_ != nullptr ? newest_->newer : oldest_) = body;
  newest_ = body;
}

void BodyTable::unlink(StoredBody* body) noexcept {
  (body->newer != nullptr ? body->newer->older : newest_) = body->older;
  (body->older != nullptr ? body->older->newer : oldest_) = body->newer;
}

}  // namespace pepe
