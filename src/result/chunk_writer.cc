// HOT: add() runs once per hit. No allocation, lock, log or wall clock once the buffers have grown.
#include "pepe/result/chunk_writer.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "pepe/base/check.h"
#include "result/body_table.h"
#include "result/chunk_dictionary.h"
#include "result/chunk_format.h"
#include "result/msgpack_writer.h"

namespace pepe {
namespace {

// Room for one hit at its largest.
constexpr std::size_t kMaxHitBytes = kHitColumnNames.size() * kMaxMsgpackHead;
// What a chunk has beside its hits, dictionary and bodies: head, keys, column names, numbers. Rounded up.
constexpr std::size_t kFrameBytes = 384;
// Memory that a chunk with uncommonly large bodies has taken is given back beyond this.
constexpr std::size_t kKeptBodyBuffer = std::size_t{1} << 20;

std::uint64_t bits(Nanos nanos) noexcept { return static_cast<std::uint64_t>(nanos.count()); }

// The mean slope of `due` over `seq`, so that what a hit's due differs by from it is small. All sums wrap.
std::uint64_t slope(std::uint64_t due, std::uint64_t seq) noexcept {
  const auto hits = static_cast<std::int64_t>(seq);
  return hits <= 0 ? 0 : static_cast<std::uint64_t>(static_cast<std::int64_t>(due) / hits);
}

}  // namespace

BodyRef::BodyRef(StoredBody* body) noexcept : body_{body} {
  if (body_ != nullptr) ++body_->users;
}
BodyRef::BodyRef(const BodyRef& other) noexcept : BodyRef{other.body_} {}
BodyRef::BodyRef(BodyRef&& other) noexcept : body_{std::exchange(other.body_, nullptr)} {}
BodyRef& BodyRef::operator=(BodyRef other) noexcept {
  std::swap(body_, other.body_);
  return *this;
}
BodyRef::~BodyRef() {
  if (body_ != nullptr) --body_->users;
}
std::string_view BodyRef::bytes() const noexcept { return body_ == nullptr ? std::string_view{} : body_->bytes; }

struct ChunkWriter::State {
  explicit State(ChunkWriterOptions given)
      : options{given},
        strings{given.run_id},
        blocks{given.run_id},
        outcomes{given.run_id},
        table{given.body_table_bytes, given.run_id} {
    options.chunk_bytes = std::min(options.chunk_bytes, kMaxChunkBytes);
    static_cast<void>(hits.room(options.chunk_bytes + kMaxHitBytes));
  }

  std::size_t size() const noexcept {
    return kFrameBytes + hits.size() + strings.bytes().size() + blocks.bytes().size() + outcomes.bytes().size() +
           inline_bodies.size() + stored_body_bytes;
  }
  // Bytes that a string or a body may still have, so that the payload stays within the format's limit.
  std::size_t room() const noexcept {
    const std::size_t used = size() + kPayloadReserve;
    return used < kMaxPayload ? kMaxPayload - used : 0;
  }

  std::int64_t intern_string(std::string_view text);
  std::int64_t intern_headers(std::span<const HeaderView> headers);
  std::int64_t intern_body(const Outcome& outcome);
  std::int64_t add_inline_body(std::string_view body);
  void begin_hits(std::uint64_t seq, std::uint64_t due) noexcept;

  void append_payload(std::string& out);
  void append_bodies(std::string& out);
  void clear() noexcept;

  ChunkWriterOptions options;
  std::uint32_t chunk{1};  // Number of the open chunk; never 0.

  ByteBuffer hits;
  std::size_t hit_count{0};
  std::uint64_t first_seq{0};
  std::uint64_t first_due{0};
  std::uint64_t last_seq{0};
  std::uint64_t last_due{0};
  std::uint64_t step{0};

  ChunkDictionary strings;
  ChunkDictionary blocks;
  ChunkDictionary outcomes;
  ByteBuffer block;  // The header block being looked up.

  BodyTable table;
  std::uint64_t next_body{1};
  std::vector<StoredBody*> stored_bodies;  // Those that come with the open chunk.
  std::size_t stored_body_bytes{0};
  ByteBuffer inline_bodies;  // Alternately an id and a body, encoded.
  std::size_t inline_count{0};
  std::vector<std::uint64_t> dropped;
};

ChunkWriter::ChunkWriter(ChunkWriterOptions options) : state_{std::make_unique<State>(options)} {}
ChunkWriter::~ChunkWriter() = default;
ChunkWriter::ChunkWriter(ChunkWriter&&) noexcept = default;

bool ChunkWriter::is_current(OutcomeId id) const noexcept { return id.chunk == state_->chunk; }

OutcomeId ChunkWriter::intern(const Outcome& outcome) {
  State& state = *state_;
  std::array<char, kOutcomeColumnNames.size() * kMaxMsgpackHead> row;
  char* at = row.data();
  at = put_int(at, state.intern_string(outcome.attack));
  at = put_int(at, state.intern_string(outcome.method));
  at = put_int(at, state.intern_string(outcome.url));
  at = put_uint(at, outcome.code);
  at = put_uint(at, outcome.bytes_out);
  at = put_uint(at, outcome.bytes_in);
  at = put_uint(at, outcome.bytes_read);
  at = put_int(at, state.intern_string(outcome.error));
  at = put_int(at, outcome.has_headers ? state.intern_headers(outcome.headers) : kNoHeaders);
  at = put_int(at, outcome.has_body ? state.intern_body(outcome) : kNoBody);
  at = put_uint(at, outcome.reused ? 1 : 0);
  at = put_int(at, outcome.zone_minutes);
  at = put_uint(at, static_cast<std::uint64_t>(outcome.protocol));
  at = put_uint(at, outcome.has_lag ? 0 : 1);
  const std::string_view bytes{row.data(), static_cast<std::size_t>(at - row.data())};
  return {.index = state.outcomes.intern({}, bytes), .chunk = state.chunk};
}

void ChunkWriter::add(OutcomeId outcome, std::uint64_t seq, std::int64_t unix_nanos, Nanos latency, Nanos lag) {
  State& state = *state_;
  PEPE_CHECK(outcome.chunk == state.chunk);
  const std::uint64_t due = static_cast<std::uint64_t>(unix_nanos) - bits(lag);
  if (state.hit_count < 2) [[unlikely]]
    state.begin_hits(seq, due);
  const std::uint64_t seq_delta = seq - state.last_seq;
  const std::uint64_t due_delta = due - state.last_due - state.step * seq_delta;
  char* at = state.hits.room(kMaxHitBytes);
  at = put_uint(at, outcome.index);
  at = put_int(at, static_cast<std::int64_t>(seq_delta));
  at = put_int(at, static_cast<std::int64_t>(due_delta));
  at = put_int(at, latency.count());
  at = put_int(at, lag.count());
  state.hits.written(at);
  state.last_seq = seq;
  state.last_due = due;
  ++state.hit_count;
}

BodyRef ChunkWriter::store_body(std::string_view bytes) {
  return BodyRef{state_->table.find_or_store(bytes, state_->next_body, state_->dropped)};
}

std::size_t ChunkWriter::size() const noexcept { return state_->hit_count == 0 ? 0 : state_->size(); }
bool ChunkWriter::full() const noexcept { return size() >= state_->options.chunk_bytes; }

void ChunkWriter::take(std::string& out) {
  State& state = *state_;
  if (state.hit_count == 0) return;
  out.reserve(out.size() + state.size() + state.dropped.size() * kMaxMsgpackHead);
  const std::size_t payload_at = open_chunk(out);
  state.append_payload(out);
  close_chunk(out, payload_at);
  state.clear();
}

// The first hit is what the others are told by. Of the first chunk, the second hit gives the slope; later chunks have
// that of the chunk before.
void ChunkWriter::State::begin_hits(std::uint64_t seq, std::uint64_t due) noexcept {
  if (hit_count == 0) {
    first_seq = last_seq = seq;
    first_due = last_due = due;
  } else if (step == 0) {
    step = slope(due - last_due, seq - last_seq);
  }
}

std::int64_t ChunkWriter::State::intern_string(std::string_view text) {
  text = text.substr(0, room());
  std::array<char, kMaxMsgpackHead> head;
  const char* end = put_bin_head(head.data(), text.size());
  return strings.intern({head.data(), static_cast<std::size_t>(end - head.data())}, text);
}

std::int64_t ChunkWriter::State::intern_headers(std::span<const HeaderView> headers) {
  headers = headers.first(std::min(headers.size(), kMaxFieldsPerBlock));
  block.clear();
  char* at = block.room((headers.size() * 2 + 1) * kMaxMsgpackHead);
  at = put_array_head(at, headers.size() * 2);
  for (const HeaderView& header : headers) {
    at = put_int(at, intern_string(header.name));
    at = put_int(at, intern_string(header.value));
  }
  block.written(at);
  return blocks.intern({}, block.view());
}

std::int64_t ChunkWriter::State::intern_body(const Outcome& outcome) {
  StoredBody* body = outcome.stored.body_;
  if (body == nullptr) return outcome.body.empty() ? kEmptyBody : add_inline_body(outcome.body);
  if (!body->in_stream) {
    stored_bodies.push_back(body);
    body->in_stream = body->in_open_chunk = true;
    stored_body_bytes += body->bytes.size() + 2 * kMaxMsgpackHead;
  }
  return static_cast<std::int64_t>(body->id);
}

// No later chunk refers to it, so that the reader need not keep it either.
std::int64_t ChunkWriter::State::add_inline_body(std::string_view body) {
  body = body.substr(0, room());
  const std::uint64_t id = next_body++;
  // All that may fail comes first: the body is there as a whole or not at all.
  char* at = inline_bodies.room(2 * kMaxMsgpackHead + body.size());
  dropped.push_back(id);
  at = put_uint(at, id);
  inline_bodies.written(put_bin_head(at, body.size()));
  inline_bodies.append(body);
  ++inline_count;
  return static_cast<std::int64_t>(id);
}

namespace {

/// Appends the parts of a payload in msgpack to a string.
class PayloadWriter {
 public:
  explicit PayloadWriter(std::string& out) : out_{out} {}

  void map(std::size_t count) { out_.push_back(static_cast<char>(0x80 | count)); }
  void text(std::string_view text) {
    out_.push_back(static_cast<char>(0xA0 | text.size()));
    out_.append(text);
  }
  void array(std::size_t count) {
    append([&](char* at) { return put_array_head(at, count); });
  }
  void number(std::uint64_t value) {
    append([&](char* at) { return put_uint(at, value); });
  }
  void number(std::int64_t value) {
    append([&](char* at) { return put_int(at, value); });
  }
  void bin(std::string_view bytes) {
    append([&](char* at) { return put_bin_head(at, bytes.size()); });
    out_.append(bytes);
  }
  template <std::size_t N>
  void names(const std::array<std::string_view, N>& names) {
    array(N);
    for (const std::string_view name : names) text(name);
  }

 private:
  template <class Put>
  void append(Put put) {
    std::array<char, kMaxMsgpackHead> bytes;
    out_.append(bytes.data(), static_cast<std::size_t>(put(bytes.data()) - bytes.data()));
  }

  std::string& out_;
};

}  // namespace

// The dictionary stands before the hits, so that a reader needs one pass.
void ChunkWriter::State::append_payload(std::string& out) {
  PayloadWriter payload{out};
  const bool has_bodies = inline_count + stored_bodies.size() > 0;
  payload.map(11U + (has_bodies ? 1U : 0U) + (dropped.empty() ? 0U : 1U));
  payload.text(key::kRun), payload.number(options.run_id);
  payload.text(key::kWriter), payload.number(std::uint64_t{options.writer});
  payload.text(key::kStrings), payload.array(strings.count()), out.append(strings.bytes());
  payload.text(key::kHeaders), payload.array(blocks.count()), out.append(blocks.bytes());
  if (has_bodies) append_bodies(out);
  if (!dropped.empty()) {
    payload.text(key::kDrop), payload.array(dropped.size());
    for (const std::uint64_t id : dropped) payload.number(id);
  }
  payload.text(key::kOutcomeColumns), payload.names(kOutcomeColumnNames);
  payload.text(key::kOutcomes), payload.array(outcomes.count() * kOutcomeColumnNames.size());
  out.append(outcomes.bytes());
  payload.text(key::kSeq), payload.number(first_seq);
  payload.text(key::kDue), payload.number(static_cast<std::int64_t>(first_due));
  payload.text(key::kStep), payload.number(static_cast<std::int64_t>(step));
  payload.text(key::kColumns), payload.names(kHitColumnNames);
  payload.text(key::kHits), payload.array(hit_count * kHitColumnNames.size()), out.append(hits.view());
}

void ChunkWriter::State::append_bodies(std::string& out) {
  PayloadWriter payload{out};
  payload.text(key::kBodies), payload.array(2 * (inline_count + stored_bodies.size()));
  out.append(inline_bodies.view());
  for (StoredBody* body : stored_bodies) {
    payload.number(body->id), payload.bin(body->bytes);
    body->in_open_chunk = false;
  }
}

void ChunkWriter::State::clear() noexcept {
  if (last_seq != first_seq) step = slope(last_due - first_due, last_seq - first_seq);
  hits.clear(2 * kMaxChunkBytes);
  hit_count = 0;
  strings.clear();
  blocks.clear();
  outcomes.clear();
  stored_bodies.clear();
  stored_body_bytes = 0;
  inline_bodies.clear(kKeptBodyBuffer);
  inline_count = 0;
  dropped.clear();
  if (++chunk == 0) chunk = 1;
}

}  // namespace pepe
