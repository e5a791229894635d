#include "result/msgpack_codec.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "pepe/base/check.h"
#include "pepe/base/time.h"
#include "pepe/result/chunk_writer.h"
#include "result/chunk_finder.h"
#include "result/chunk_format.h"
#include "result/chunk_hits.h"
#include "result/chunk_payload.h"
#include "result/damage_log.h"
#include "result/kept_bodies.h"
#include "result/run_facts.h"

namespace pepe {
namespace {

class MsgpackEncoder final : public Encoder {
 public:
  explicit MsgpackEncoder(std::uint64_t run_id) : writer_{{.run_id = run_id}} {}

  void encode(const Result& result, std::string& out) override {
    const std::string_view body = result.body.value_or(std::string_view{});
    const Outcome outcome{.attack = result.attack,
                          .method = result.method,
                          .url = result.url,
                          .code = result.code,
                          .bytes_out = result.bytes_out,
                          .bytes_in = result.bytes_in,
                          .bytes_read = result.bytes_read,
                          .error = result.error,
                          .headers = result.headers,
                          .has_headers = result.has_headers,
                          .has_body = result.body.has_value(),
                          .stored = body.empty() ? BodyRef{} : writer_.store_body(body),
                          .body = body,
                          .reused = result.reused,
                          .protocol = result.protocol,
                          .zone_minutes = result.timestamp.zone_minutes,
                          .has_lag = result.has_lag};
    writer_.add(writer_.intern(outcome), result.seq, result.timestamp.unix_nanos, result.latency, result.lag);
    if (writer_.full()) writer_.take(out);
  }
  void flush(std::string& out) override { writer_.take(out); }

 private:
  ChunkWriter writer_;
};

class MsgpackDecoder final : public Decoder {
 public:
  MsgpackDecoder(DecoderEvents events, DecodeOptions options)
      : facts_{std::move(events.facts)}, damage_{std::move(events.damage)}, hits_{options} {}

  Expected<DecodeStatus> next(InputWindow& in, Result& out) override {
    for (;;) {
      if (open_bytes_ > 0) {
        PEPE_CHECK(in.rest().data() == open_at_);
        const ChunkHits::Step step = hits_.next(out);
        if (step == ChunkHits::Step::kHit) return DecodeStatus::kResult;
        if (step == ChunkHits::Step::kMalformed) report_malformed(in, "bad hits");
        leave_chunk(in);
      }
      std::string_view payload;
      const Expected<ChunkFinder::Found> found = finder_.find(in, payload);
      if (!found || *found == ChunkFinder::Found::kEnd) finish();
      if (!found) return found.error();
      if (*found == ChunkFinder::Found::kEnd) return DecodeStatus::kEnd;
      if (*found == ChunkFinder::Found::kNeedMore) return DecodeStatus::kNeedMore;
      enter_chunk(in, payload);
    }
  }

 private:
  void enter_chunk(InputWindow& in, std::string_view bytes) {
    const std::size_t size = kChunkHeadBytes + bytes.size();
    const std::optional<ChunkPayload> payload = parse_chunk_payload(bytes);
    if (!payload) {
      report_malformed(in, "not a map");
      in.pos += size;
      return;
    }
    kept_.enter_run(payload->run);
    if (!payload->facts.empty()) state_facts(in, payload->facts);
    if (payload->hits.empty()) {
      in.pos += size;
      return;
    }
    if (const Expected<void> opened = hits_.open(*payload, kept_); !opened) {
      report_malformed(in, opened.error().text());
      in.pos += size;
      return;
    }
    payload_ = *payload;
    open_at_ = in.rest().data();
    open_bytes_ = size;
  }

  void leave_chunk(InputWindow& in) {
    hits_.hand_over(payload_, kept_);
    in.pos += open_bytes_;
    open_bytes_ = 0;
  }

  void state_facts(const InputWindow& in, std::string_view value) {
    // The end of a run repeats nothing of its start; another run starts from nothing.
    std::optional<RunFacts> facts = parse_run_facts(value, known_facts_);
    if (facts && facts->run_id != known_facts_.run_id) facts = parse_run_facts(value, no_facts());
    if (!facts) return report_malformed(in, "bad facts");
    known_facts_ = *facts;
    if (facts_) facts_(*facts);
  }

  void report_malformed(const InputWindow& in, std::string_view what) {
    damage_.add(fmt::format("chunk at byte {} is malformed, what is left of it is lost: {}", in.offset + in.pos, what));
  }

  void finish() {
    if (hits_.lost_bodies() > reported_lost_bodies_) {
      damage_.add(fmt::format("the bodies of {} results are lost: the chunks that they were in are",
                              hits_.lost_bodies() - reported_lost_bodies_));
      reported_lost_bodies_ = hits_.lost_bodies();
    }
    damage_.finish();
  }

  std::function<void(const RunFacts&)> facts_;
  RunFacts known_facts_{no_facts()};
  DamageLog damage_;
  ChunkFinder finder_{damage_};
  KeptBodies kept_;
  ChunkHits hits_;
  ChunkPayload payload_;          // Of the open chunk.
  const char* open_at_{nullptr};  // Its head in the window.
  std::size_t open_bytes_{0};     // 0: no chunk is open.
  std::uint64_t reported_lost_bodies_{0};
};

// Body ids count within a run, so that runs in one stream are told apart by this number alone.
std::uint64_t random_run_id() {
  std::uint64_t id = 0;
  if (getentropy(&id, sizeof id) == 0) return id;
  return static_cast<std::uint64_t>(Clock::now().time_since_epoch().count()) ^
         (static_cast<std::uint64_t>(getpid()) << 40);
}

}  // namespace

// A flipped bit in the very first bytes must cost no more than the first chunk, so a near miss is a match too: no
// other encoding begins within two bits of the magic.
CodecEntry::Match detect_msgpack(std::string_view head, bool at_end) {
  constexpr int kMaxWrongBits = 2;
  int wrong_bits = 0;
  for (std::size_t i = 0; i < std::min(head.size(), kChunkMagic.size()); ++i) {
    wrong_bits += std::popcount(static_cast<unsigned char>(head[i] ^ kChunkMagic[i]));
  }
  if (wrong_bits > kMaxWrongBits) return CodecEntry::Match::kNo;
  if (head.size() >= kChunkMagic.size()) return CodecEntry::Match::kYes;
  if (!at_end) return CodecEntry::Match::kNeedMore;
  return wrong_bits == 0 && !head.empty() ? CodecEntry::Match::kYes : CodecEntry::Match::kNo;
}

std::unique_ptr<Encoder> make_msgpack_encoder(std::uint64_t run_id) { return std::make_unique<MsgpackEncoder>(run_id); }
std::unique_ptr<Encoder> make_msgpack_encoder() { return make_msgpack_encoder(random_run_id()); }
std::unique_ptr<Decoder> make_msgpack_decoder(DecoderEvents events, DecodeOptions options) {
  return std::make_unique<MsgpackDecoder>(std::move(events), options);
}

}  // namespace pepe
