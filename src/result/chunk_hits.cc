// HOT: next() runs once per result of a report. No allocation, lock or system call.
#include "result/chunk_hits.h"

#include <algorithm>

namespace pepe {
namespace {

enum OutcomeColumn : std::size_t {
  kAttack,
  kMethod,
  kUrl,
  kCode,
  kBytesOut,
  kBytesIn,
  kBytesRead,
  kErrorText,
  kHeaders,
  kBody,
  kReused,
  kZone,
  kProtocol,
  kNoLag
};
enum HitColumn : std::size_t { kOutcome, kSeq, kDue, kLatency, kLag };

constexpr std::uint64_t kNone = UINT64_MAX;  // A string, header block or body that is not there: -1.
static_assert(static_cast<std::uint64_t>(kNoBody) == kNone && static_cast<std::uint64_t>(kNoHeaders) == kNone);

Error malformed(std::string_view what) { return Error{std::string{what}}; }

// Memory that one uncommon chunk has made a table grow to is given back.
template <class Item>
void reuse(std::vector<Item>& items) {
  constexpr std::size_t kKeptItems = 8192;
  items.clear();
  if (items.capacity() > kKeptItems) std::vector<Item>{}.swap(items);
}

// The slot of each column by its name, names.size() for one that is not known.
template <std::size_t N>
bool read_columns(std::string_view value, const std::array<std::string_view, N>& names,
                  std::vector<unsigned char>& columns) {
  columns.clear();
  MsgpackReader reader{value};
  std::size_t count = 0;
  if (!reader.read_array(count) || count == 0 || count > kMaxColumns) return false;
  for (std::size_t i = 0; i < count; ++i) {
    std::string_view name;
    if (!reader.read_bytes(name)) return false;
    const auto slot = std::find(names.begin(), names.end(), name) - names.begin();
    columns.push_back(static_cast<unsigned char>(slot));
  }
  return true;
}

// One that a later version adds is not known here.
Protocol to_protocol(std::uint64_t number) {
  return number <= static_cast<std::uint64_t>(Protocol::kHttp2) ? static_cast<Protocol>(number) : Protocol::kNone;
}

}  // namespace

Expected<void> ChunkHits::open(const ChunkPayload& payload, const KeptBodies& kept) {
  left_ = 0;
  reuse(entries_);
  reuse(bodies_);
  if (auto read = read_strings(payload.strings); !read) return read;
  if (auto read = read_headers(payload.headers); !read) return read;
  if (auto read = read_bodies(payload.bodies); !read) return read;
  if (auto read = read_outcomes(payload, kept); !read) return read;
  return open_hits(payload);
}

ChunkHits::Step ChunkHits::next(Result& out) noexcept {
  if (left_ == 0) return at_ == end_ ? Step::kEnd : Step::kMalformed;
  --left_;
  HitRow row{};
  const char* at = at_;
  for (const unsigned char column : columns_) {
    at = read_msgpack_int(at, end_, row[column]);
    if (at == nullptr) [[unlikely]]
      return Step::kMalformed;
  }
  at_ = at;
  if (row[kOutcome] >= entries_.size()) [[unlikely]]
    return Step::kMalformed;
  const Entry& entry = entries_[row[kOutcome]];
  seq_ += row[kSeq];
  due_ += row[kDue] + step_ * row[kSeq];
  out = entry.result;
  out.seq = seq_;
  out.timestamp.unix_nanos = static_cast<std::int64_t>(due_ + row[kLag]);
  out.latency = Nanos{static_cast<std::int64_t>(row[kLatency])};
  out.lag = Nanos{static_cast<std::int64_t>(row[kLag])};
  lost_bodies_ += entry.body_lost ? 1U : 0U;
  return Step::kHit;
}

Expected<void> ChunkHits::open_hits(const ChunkPayload& payload) {
  if (!read_columns(payload.columns, kHitColumnNames, columns_)) return malformed("bad columns");
  if (std::find(columns_.begin(), columns_.end(), kOutcome) == columns_.end()) return malformed("no outcome column");
  MsgpackReader reader{payload.hits};
  std::size_t count = 0;
  if (!reader.read_array(count) || count % columns_.size() != 0) return malformed("bad hits");
  left_ = count / columns_.size();
  at_ = payload.hits.data() + reader.pos();
  end_ = payload.hits.data() + payload.hits.size();
  seq_ = payload.seq;
  due_ = payload.due;
  step_ = payload.step;
  return {};
}

Expected<void> ChunkHits::read_strings(std::string_view value) {
  reuse(strings_);
  MsgpackReader reader{value};
  std::size_t count = 0;
  if (!reader.read_array(count) || count > kMaxStrings) return malformed("bad strings");
  strings_.resize(count);
  for (std::string_view& text : strings_) {
    if (!reader.read_bytes(text)) return malformed("bad strings");
  }
  return {};
}

Expected<void> ChunkHits::read_headers(std::string_view value) {
  reuse(fields_);
  reuse(blocks_);
  if (!options_.headers || value.empty()) return {};
  MsgpackReader reader{value};
  std::size_t blocks = 0;
  if (!reader.read_array(blocks) || blocks > kMaxOutcomes) return malformed("bad headers");
  for (std::size_t i = 0; i < blocks; ++i) {
    std::size_t count = 0;
    if (!reader.read_array(count) || count % 2 != 0 || fields_.size() + count / 2 > kMaxFields) {
      return malformed("bad headers");
    }
    blocks_.push_back({.first = fields_.size(), .count = count / 2});
    for (std::size_t field = 0; field < count / 2; ++field) {
      std::uint64_t name = 0;
      std::uint64_t text = 0;
      HeaderView header;
      if (!reader.read_int(name) || !reader.read_int(text) || !find_string(name, header.name) ||
          !find_string(text, header.value)) {
        return malformed("bad headers");
      }
      fields_.push_back(header);
    }
  }
  return {};
}

Expected<void> ChunkHits::read_bodies(std::string_view value) {
  if (!options_.bodies || value.empty()) return {};
  MsgpackReader reader{value};
  std::size_t count = 0;
  if (!reader.read_array(count) || count % 2 != 0 || count / 2 > kMaxBodies) return malformed("bad bodies");
  bodies_.resize(count / 2);
  for (Body& body : bodies_) {
    if (!reader.read_int(body.id) || !reader.read_bytes(body.bytes)) return malformed("bad bodies");
  }
  std::sort(bodies_.begin(), bodies_.end(), [](const Body& a, const Body& b) { return a.id < b.id; });
  return {};
}

Expected<void> ChunkHits::read_outcomes(const ChunkPayload& payload, const KeptBodies& kept) {
  if (!read_columns(payload.outcome_columns, kOutcomeColumnNames, columns_)) return malformed("bad outcome columns");
  MsgpackReader reader{payload.outcomes};
  std::size_t count = 0;
  if (!reader.read_array(count) || count % columns_.size() != 0 || count / columns_.size() > kMaxOutcomes) {
    return malformed("bad outcomes");
  }
  OutcomeRow defaults{};
  for (const std::size_t column : {kAttack, kMethod, kUrl, kErrorText, kHeaders, kBody}) defaults[column] = kNone;
  entries_.reserve(count / columns_.size());
  for (std::size_t i = 0; i < count / columns_.size(); ++i) {
    OutcomeRow row = defaults;
    for (const unsigned char column : columns_) {
      if (!reader.read_int(row[column])) return malformed("bad outcomes");
    }
    auto entry = make_entry(row, payload.writer, kept);
    if (!entry) return std::move(entry).error();
    entries_.push_back(*entry);
  }
  return {};
}

Expected<ChunkHits::Entry> ChunkHits::make_entry(const OutcomeRow& row, std::uint64_t writer,
                                                 const KeptBodies& kept) const {
  Entry entry{};
  Result& result = entry.result;
  if (!find_string(row[kAttack], result.attack) || !find_string(row[kMethod], result.method) ||
      !find_string(row[kUrl], result.url) || !find_string(row[kErrorText], result.error)) {
    return malformed("an outcome refers to a string that is not there");
  }
  const auto zone = static_cast<std::int64_t>(row[kZone]);
  if (row[kCode] > UINT16_MAX || zone < INT16_MIN || zone > INT16_MAX) return malformed("an outcome is out of range");
  result.code = static_cast<std::uint16_t>(row[kCode]);
  result.bytes_out = row[kBytesOut];
  result.bytes_in = row[kBytesIn];
  result.bytes_read = row[kBytesRead];
  result.reused = row[kReused] != 0;
  result.has_lag = row[kNoLag] == 0;
  result.protocol = to_protocol(row[kProtocol]);
  result.timestamp.zone_minutes = static_cast<std::int16_t>(zone);
  result.has_headers = row[kHeaders] != kNone;
  if (result.has_headers && options_.headers) {
    if (row[kHeaders] >= blocks_.size()) return malformed("an outcome refers to headers that are not there");
    const Block& block = blocks_[row[kHeaders]];
    result.headers = std::span{fields_}.subspan(block.first, block.count);
  }
  if (row[kBody] == static_cast<std::uint64_t>(kEmptyBody)) {
    result.body = std::string_view{""};
  } else if (row[kBody] != kNone && options_.bodies) {
    result.body = find_body(row[kBody]);
    if (!result.body) {
      if (const std::string* body = kept.find(writer, row[kBody])) result.body = *body;
    }
    entry.body_lost = !result.body;
  }
  return entry;
}

bool ChunkHits::find_string(std::uint64_t index, std::string_view& text) const noexcept {
  if (index == kNone) return true;
  if (index >= strings_.size()) return false;
  text = strings_[index];
  return true;
}

std::optional<std::string_view> ChunkHits::find_body(std::uint64_t id) const noexcept {
  const auto found = std::lower_bound(bodies_.begin(), bodies_.end(), id,
                                      [](const Body& body, std::uint64_t wanted) { return body.id < wanted; });
  if (found == bodies_.end() || found->id != id) return std::nullopt;
  return found->bytes;
}

// A body that is dropped by the chunk that brings it is never copied: the ids to drop are sorted out first.
void ChunkHits::hand_over(const ChunkPayload& payload, KeptBodies& kept) const {
  if (!options_.bodies) return;
  std::vector<std::uint64_t> dropped;
  MsgpackReader reader{payload.drop};
  std::size_t count = 0;
  std::uint64_t id = 0;
  if (!payload.drop.empty() && reader.read_array(count)) {
    while (count-- > 0 && reader.read_int(id)) dropped.push_back(id);
  }
  std::sort(dropped.begin(), dropped.end());
  for (const std::uint64_t gone : dropped) kept.drop(payload.writer, gone);
  for (const Body& body : bodies_) {
    if (!std::binary_search(dropped.begin(), dropped.end(), body.id)) kept.keep(payload.writer, body.id, body.bytes);
  }
}

}  // namespace pepe
