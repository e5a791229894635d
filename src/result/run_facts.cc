#include "result/run_facts.h"

#include <cstdint>
#include <exception>
#include <limits>
#include <msgpack.hpp>
#include <string>

#include "pepe/result/chunk_writer.h"
#include "result/chunk_format.h"

namespace pepe {
namespace {

// A command line has at most some thousand flags; what is larger is not facts of a run.
constexpr std::size_t kMaxFactsBytes = std::size_t{4} << 20;
constexpr std::size_t kMaxFactsItems = 100'000;
constexpr std::size_t kMaxFactsDepth = 8;

/// Appends what msgpack-c packs to a string.
class StringSink {
 public:
  explicit StringSink(std::string& out) : out_{out} {}
  void write(const char* bytes, std::size_t size) { out_.append(bytes, size); }

 private:
  std::string& out_;
};

class FactsPacker {
 public:
  explicit FactsPacker(StringSink& sink) : packer_{sink} {}

  void map(std::uint32_t count) { packer_.pack_map(count); }
  void array(std::string_view name, std::size_t count) {
    text(name);
    packer_.pack_array(static_cast<std::uint32_t>(count));
  }
  void text(std::string_view text) {
    const auto size = static_cast<std::uint32_t>(text.size());
    packer_.pack_str(size).pack_str_body(text.data(), size);
  }
  // Bytes from outside need not be UTF-8, so they are not given as text.
  void bytes(std::string_view bytes) {
    const auto size = static_cast<std::uint32_t>(bytes.size());
    packer_.pack_bin(size).pack_bin_body(bytes.data(), size);
  }
  template <class Value>
  void field(std::string_view name, Value value) {
    text(name);
    packer_.pack(value);
  }
  void field(std::string_view name, Nanos value) { field(name, value.count()); }
  void field(std::string_view name, const std::string& value) {
    text(name);
    bytes(value);
  }

 private:
  msgpack::packer<StringSink> packer_;
};

/// One msgpack value, read by whoever knows the type it should have; anything else leaves `out` as it is.
void read(const msgpack::object& value, std::string& out) {
  if (value.type == msgpack::type::BIN) out.assign(value.via.bin.ptr, value.via.bin.size);
  if (value.type == msgpack::type::STR) out.assign(value.via.str.ptr, value.via.str.size);
}
void read(const msgpack::object& value, bool& out) {
  if (value.type == msgpack::type::BOOLEAN) out = value.via.boolean;
}
void read(const msgpack::object& value, double& out) {
  if (value.type == msgpack::type::FLOAT32 || value.type == msgpack::type::FLOAT64) out = value.via.f64;
  if (value.type == msgpack::type::POSITIVE_INTEGER) out = static_cast<double>(value.via.u64);
}
void read(const msgpack::object& value, std::uint64_t& out) {
  if (value.type == msgpack::type::POSITIVE_INTEGER) out = value.via.u64;
}
void read(const msgpack::object& value, std::int64_t& out) {
  if (value.type == msgpack::type::NEGATIVE_INTEGER) out = value.via.i64;
  if (value.type == msgpack::type::POSITIVE_INTEGER && value.via.u64 <= INT64_MAX) {
    out = static_cast<std::int64_t>(value.via.u64);
  }
}
void read(const msgpack::object& value, std::int16_t& out) {
  std::int64_t wide = out;
  read(value, wide);
  if (wide >= INT16_MIN && wide <= INT16_MAX) out = static_cast<std::int16_t>(wide);
}
void read(const msgpack::object& value, Nanos& out) {
  std::int64_t nanos = out.count();
  read(value, nanos);
  out = Nanos{nanos};
}

template <class Visit>
void for_each_field(const msgpack::object& map, Visit visit) {
  if (map.type != msgpack::type::MAP) return;
  for (std::uint32_t i = 0; i < map.via.map.size; ++i) {
    const msgpack::object_kv& pair = map.via.map.ptr[i];
    if (pair.key.type == msgpack::type::STR)
      visit(std::string_view{pair.key.via.str.ptr, pair.key.via.str.size}, pair.val);
  }
}

void read(const msgpack::object& value, ThreadFacts& out) {
  for_each_field(value, [&](std::string_view name, const msgpack::object& field) {
    if (name == "busy_share") read(field, out.busy_share);
    if (name == "peak_busy_share") read(field, out.peak_busy_share);
  });
}

template <class Item>
void read_array(const msgpack::object& value, std::vector<Item>& out) {
  if (value.type != msgpack::type::ARRAY) return;
  out.resize(value.via.array.size);
  for (std::uint32_t i = 0; i < value.via.array.size; ++i) read(value.via.array.ptr[i], out[i]);
}

// One list of names for both directions: `visit` packs or reads the field.
template <class Facts, class Visit>
void visit_plain_fields(Facts& facts, Visit visit) {
  visit("run", facts.run_id);
  visit("version", facts.version);
  visit("attack", facts.attack);
  visit("start", facts.start.unix_nanos);
  visit("start_zone", facts.start.zone_minutes);
  visit("rate_hits", facts.rate.hits);
  visit("rate_per", facts.rate.per);
  visit("pacer", facts.pacer);
  visit("duration", facts.duration);
  visit("complete", facts.complete);
  visit("elapsed", facts.elapsed);
  visit("sent", facts.sent);
  visit("missed", facts.missed);
  visit("late", facts.late);
  visit("worst_lag", facts.worst_lag);
  visit("limited", facts.limited);
  visit("limit", facts.limit);
}

// Zeros and empty texts are left out, so that the facts of a run's end repeat nothing of its start.
template <class Value>
bool is_nothing(const Value& value) {
  return value == Value{};
}

RunFacts read_facts(const msgpack::object& map, RunFacts facts) {
  for_each_field(map, [&](std::string_view name, const msgpack::object& value) {
    visit_plain_fields(facts, [&](std::string_view known, auto& field) {
      if (name == known) read(value, field);
    });
    if (name == "flags") read_array(value, facts.flags);
    if (name == "threads") read_array(value, facts.threads);
  });
  return facts;
}

}  // namespace

void append_facts_chunk(const RunFacts& facts, std::string& out) {
  const std::size_t payload_at = open_chunk(out);
  StringSink sink{out};
  FactsPacker packer{sink};
  packer.map(2);
  packer.field(key::kRun, facts.run_id);
  packer.text(key::kFacts);
  std::uint32_t fields = (facts.flags.empty() ? 0U : 1U) + (facts.threads.empty() ? 0U : 1U);
  visit_plain_fields(facts, [&](std::string_view, const auto& value) { fields += is_nothing(value) ? 0U : 1U; });
  packer.map(fields);
  visit_plain_fields(facts, [&](std::string_view name, const auto& value) {
    if (!is_nothing(value)) packer.field(name, value);
  });
  if (!facts.flags.empty()) packer.array("flags", facts.flags.size());
  for (const std::string& flag : facts.flags) packer.bytes(flag);
  if (!facts.threads.empty()) packer.array("threads", facts.threads.size());
  for (const ThreadFacts& thread : facts.threads) {
    packer.map(2);
    packer.field("busy_share", thread.busy_share);
    packer.field("peak_busy_share", thread.peak_busy_share);
  }
  close_chunk(out, payload_at);
}

RunFacts no_facts() {
  RunFacts facts;
  facts.rate = {0, Nanos{0}};
  return facts;
}

std::optional<RunFacts> parse_run_facts(std::string_view map, const RunFacts& before) {
  if (map.size() > kMaxFactsBytes) return std::nullopt;
  try {
    const msgpack::unpack_limit limit{kMaxFactsItems, kMaxFactsItems, kMaxFactsBytes,
                                      kMaxFactsBytes, kMaxFactsBytes, kMaxFactsDepth};
    const msgpack::object_handle handle = msgpack::unpack(map.data(), map.size(), nullptr, nullptr, limit);
    if (handle->type != msgpack::type::MAP) return std::nullopt;
    return read_facts(handle.get(), before);
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace pepe
