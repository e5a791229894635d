#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/connection.h"
#include "engine/http2_session.h"
#include "pepe/base/check.h"

namespace {

/// How an input is played: its first byte.
struct Play {
  explicit Play(std::uint8_t how)
      : hits{static_cast<std::size_t>(how & 3) + 1},
        with_body{(how & 4) != 0},
        inflate{(how & 8) != 0},
        give_up{(how & 16) != 0},
        keep_limit{(how & 32) != 0 ? 3 : UINT64_MAX} {}
  std::size_t hits;
  bool with_body;
  bool inflate;
  bool give_up;  ///< The second hit does, in the middle.
  std::uint64_t keep_limit;
};

/// A connection without its socket: hits go out, the server's bytes come in, every hit gets its outcome once.
class Client {
 public:
  explicit Client(const Play& play) : play_{play}, context_{responses_, play.keep_limit} {
    request_.method = play.with_body ? "PUT" : "GET";
    request_.fields = {{":method", request_.method}, {":scheme", "http"}, {":authority", "h"}, {":path", "/"}};
    if (play.with_body) request_.content = std::make_shared<const std::string>(20'000, 'x');
    request_.inflate = play.inflate;
    state_.request = &request_;
    session_ = std::make_unique<pepe::Http2Session>(context_);
    for (std::size_t i = 0; i < play.hits; ++i) submit();
    gather();
  }

  /// Feeds `bytes` in pieces; `answering`: what there is to say goes out after each, as on a connection.
  /// Returns the outcomes in order of the hits.
  std::vector<std::string> run(std::string_view bytes, std::size_t piece, bool answering) {
    bool intact = true;
    for (std::size_t at = 0; at < bytes.size() && intact; at += piece) {
      const std::string_view view = bytes.substr(at, piece);
      const std::vector<char> copy(view.begin(), view.end());
      intact = session_->feed({copy.data(), copy.size()});
      settle();
      while (session_->unpacking()) {
        session_->unpack();
        settle();
      }
      if (!answering) continue;
      if (play_.give_up && at == 0 && hits_.size() > 1 && hits_[1].stream != nullptr) give_up(hits_[1]);
      if (session_->takes_requests() && hits_.size() < kMostHits && open() < session_->capacity()) submit();
      intact = gather() && intact;
      settle();
      if (session_->finished()) break;
    }
    while (pepe::Http2Stream* const stream = session_->next_unfinished()) conclude(*stream, "unfinished");
    session_.reset();
    for (const pepe::Hit& hit : hits_) PEPE_CHECK(hit.stream == nullptr);
    return outcomes_;
  }

 private:
  static constexpr std::size_t kMostHits = 32;

  void submit() {
    pepe::Hit& hit = hits_.emplace_back();
    hit.seq = hits_.size() - 1;
    hit.request = &request_;
    hit.target = &state_;
    outcomes_.emplace_back();
    hit.stream = &session_->submit(hit);
  }
  std::size_t open() const {
    return static_cast<std::size_t>(
        std::count_if(hits_.begin(), hits_.end(), [](const pepe::Hit& hit) { return hit.stream != nullptr; }));
  }
  bool gather() {
    std::string& out = context_.output;
    do {
      out.clear();
      if (!session_->gather(out)) return false;
    } while (!out.empty());
    return true;
  }
  void settle() {
    while (pepe::Http2Stream* const stream = session_->next_done()) {
      PEPE_CHECK(stream->state != pepe::Http2Stream::State::kOpen);
      const bool answered = stream->state == pepe::Http2Stream::State::kAnswered;
      conclude(*stream, answered ? outcome(*stream->response) : pepe::stream_error_text(*stream));
    }
  }
  void conclude(pepe::Http2Stream& stream, std::string outcome) {
    pepe::Hit& hit = *stream.hit;
    PEPE_CHECK(hit.stream == &stream && outcomes_[hit.seq].empty());
    outcomes_[hit.seq] = std::move(outcome);
    hit.stream = nullptr;
    session_->detach(stream);
  }
  void give_up(pepe::Hit& hit) {
    pepe::Http2Stream& stream = *hit.stream;
    hit.stream = nullptr;
    outcomes_[hit.seq] = "gave up";
    session_->detach(stream);
  }
  std::string outcome(pepe::Response& response) const {
    PEPE_CHECK(response.has_head() && response.code() >= 200 && response.code() <= 999);
    PEPE_CHECK(response.error().empty());
    PEPE_CHECK(response.body().kept() <= play_.keep_limit);
    std::string text = fmt::format("{} {} bytes: {}", response.code(), response.bytes_read(), response.body().bytes());
    for (const pepe::HeaderView& field : response.headers()) text += fmt::format("; {}={}", field.name, field.value);
    return text;
  }

  const Play play_;
  pepe::ResponseStash responses_;
  pepe::Http2Context context_;
  pepe::Request request_;
  pepe::TargetState state_;
  std::deque<pepe::Hit> hits_;
  std::vector<std::string> outcomes_;
  std::unique_ptr<pepe::Http2Session> session_;
};

}  // namespace

/// The first byte says what is asked (Play), the others are a server's. Every hit gets one outcome, whenever the client
/// has its say; and the same one however the bytes are cut.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const Play play{data[0]};
  const std::string_view bytes{reinterpret_cast<const char*>(data) + 1, size - 1};
  const std::size_t small = size / 4096 + 1;
  Client{play}.run(bytes, small * 9, true);
  Client fed_whole{play};
  const auto whole = fed_whole.run(bytes, bytes.size(), false);
  Client fed_cut{play};
  const auto cut = fed_cut.run(bytes, small, false);
  PEPE_CHECK(cut == whole);
  return 0;
}
