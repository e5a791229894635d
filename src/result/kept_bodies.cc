#include "result/kept_bodies.h"

#include "result/chunk_format.h"

namespace pepe {

void KeptBodies::enter_run(std::uint64_t run) {
  if (run == run_) return;
  run_ = run;
  bodies_.clear();
  bytes_ = 0;
}

void KeptBodies::keep(std::uint64_t writer, std::uint64_t id, std::string_view bytes) {
  drop(writer, id);
  const std::size_t cost = bytes.size() + kBodyOverhead;
  if (cost > kMaxKeptBodyBytes - bytes_) return;
  bodies_.emplace(Key{.writer = writer, .id = id}, bytes);
  bytes_ += cost;
}

void KeptBodies::drop(std::uint64_t writer, std::uint64_t id) {
  const auto found = bodies_.find({.writer = writer, .id = id});
  if (found == bodies_.end()) return;
  bytes_ -= found->second.size() + kBodyOverhead;
  bodies_.erase(found);
}

const std::string* KeptBodies::find(std::uint64_t writer, std::uint64_t id) const {
  const auto found = bodies_.find({.writer = writer, .id = id});
  return found == bodies_.end() ? nullptr : &found->second;
}

}  // namespace pepe
