// HOT: once per hit. No allocation, lock, log or wall clock.
#include "engine/http2_connection.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "pepe/base/check.h"

namespace pepe {
namespace {

// A GOAWAY frame: no error, and no stream of the server's was seen.
constexpr std::string_view kGoaway{"\0\0\x08\x07\0\0\0\0\0\0\0\0\0\0\0\0\0", 17};
// What is kept of an output buffer that a slow server made grow.
constexpr std::size_t kSpareBytes = 64 * 1024;

}  // namespace

bool Http2Connection::open(Dialed dialed, Pool& pool) {
  take_over(dialed, pool);
  session_ = std::make_unique<Http2Session>(*context_.http2);
  hits_ = 0;
  settling_ = true;
  capacity_ = 1;
  greeted_ = blocked_ = false;
  unsent_.clear();
  unsent_at_ = 0;
  if (!context_.ready.add(fd_, static_cast<Connection*>(this))) {
    close();
    return false;
  }
  queue_flush();
  return true;
}

void Http2Connection::close() {
  if (fd_ < 0) return;
  // Not into the middle of a frame, and not where the session has said why itself.
  if (greeted_ && !blocked_ && unsent_.empty() && write_error_ == 0 && session_->error().empty()) send_some(kGoaway);
  if (tls_) tls_->shutdown();
  tls_.reset();
  session_.reset();
  context_.ready.remove(fd_);
  ::close(fd_);
  fd_ = -1;
  reusable_ = false;
}

void Http2Connection::drop() noexcept {
  write_error_ = ECONNRESET;  // no farewell: the frames may have been cut anywhere
  settling_ = queued_ = false;
  forget_pause();
  close();
}

void Http2Connection::start(Hit& hit) {
  PEPE_CHECK(is_open());
  hit.connection = this;
  hit.reused = hits_++ > 0;
  hit.stream = &session_->submit(hit);
  queue_flush();
  if (!hit.request->close && session_->takes_requests()) return;
  reusable_ = false;  // it is the last one
  context_.owner.on_capacity(*this);
}

void Http2Connection::queue_flush() {
  if (queued_) return;
  queued_ = true;
  context_.unflushed.push_back(this);
}

void Http2Connection::flush() {
  queued_ = false;
  if (!is_open()) return;
  if (!std::exchange(greeted_, true) && tls_) {
    // The server's SETTINGS may have come with the end of the handshake: no event will tell of them.
    on_plaintext();
    if (!is_open()) return;
  }
  send_gathered();
  if (is_open()) settle();
  // A socket that is full takes no farewell.
  if (is_open() && (session_->finished() || (blocked_ && session_->ended()))) break_all(session_->error(), false);
}

void Http2Connection::send_gathered() {
  std::string& output = context_.http2->output;
  while (is_open() && !blocked_ && write_error_ == 0) {
    if (!unsent_.empty()) {
      if (!send_unsent()) return;
      continue;
    }
    output.clear();
    if (!session_->gather(output)) return break_all(session_->error(), false);
    if (output.empty()) return;
    std::swap(output, unsent_);
  }
}

// False: the socket is full, or broken.
bool Http2Connection::send_unsent() {
  while (unsent_at_ < unsent_.size()) {
    const long sent = send_some(std::string_view{unsent_}.substr(unsent_at_));
    if (sent >= 0) {
      unsent_at_ += static_cast<std::size_t>(sent);
      continue;
    }
    if (errno == EINTR) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      blocked_ = true;
      context_.ready.await_writable(fd_);
      return false;
    }
    // The server may have said why before it closed: that counts more than that it stopped listening.
    write_error_ = errno;
    on_readable(true);
    return false;
  }
  unsent_.clear();
  unsent_at_ = 0;
  // The larger of the two buffers serves the worker.
  if (std::string& output = context_.http2->output; output.capacity() < unsent_.capacity()) std::swap(output, unsent_);
  if (unsent_.capacity() > kSpareBytes) std::string{}.swap(unsent_);
  return true;
}

// Bytes sent, or -1 with errno.
long Http2Connection::send_some(std::string_view bytes) {
  return tls_ ? send_sealed(bytes) : ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

void Http2Connection::on_ready(const ReadyEvent& event) {
  if (!is_open()) return;  // closed earlier in this turn
  if (event.writable && std::exchange(blocked_, false)) queue_flush();
  if (event.writable) on_room();
  if (is_open() && (event.readable || event.closing)) on_readable(event.drain);
}

// False: the connection is closed.
bool Http2Connection::on_bytes(std::string_view bytes) {
  const bool intact = session_->feed(bytes);
  settle();
  if (!is_open()) return false;
  if (!intact) {
    break_all(session_->error(), false);
    return false;
  }
  if (session_->wants_write()) queue_flush();
  if (session_->unpacking()) pause();
  return true;
}

void Http2Connection::unpack() {
  if (!session_->unpacking()) return;
  session_->unpack();
  settle();
  if (!is_open()) return;
  queue_flush();
  if (session_->unpacking()) pause();
}

void Http2Connection::on_end(std::string error, bool) {
  // The server's farewell says more than that the connection then ended.
  if (!session_->error().empty()) error = session_->error();
  break_all(std::move(error), true);
}

// Tells what the last bytes brought. First what the connection can carry: hits that end bring others.
void Http2Connection::settle() {
  if (session_->take_change()) {
    capacity_ = session_->capacity();
    reusable_ = reusable_ && session_->takes_requests();
    if (session_->settled() || !reusable_) context_.owner.on_capacity(*this);
  }
  while (is_open()) {
    Http2Stream* const stream = session_->next_done();
    if (stream == nullptr) return;
    conclude(*stream);
  }
}

void Http2Connection::conclude(Http2Stream& stream) {
  Hit& hit = *std::exchange(stream.hit, nullptr);
  hit.stream = nullptr;
  hit.connection = nullptr;
  std::unique_ptr<Response> response = std::move(stream.response);
  const bool answered = stream.state == Http2Stream::State::kAnswered;
  std::string error = answered ? std::string{} : stream_error_text(stream);
  Breakage breakage = Breakage::kInAnswer;
  if (stream.error.empty() && stream.error_code == NGHTTP2_REFUSED_STREAM && response == nullptr) {
    breakage = !stream.reset_by_peer && session_->served_some() ? Breakage::kRetired : Breakage::kUnprocessed;
    // A farewell says more than that it left this one out.
    if (!stream.reset_by_peer && !session_->error().empty()) error = session_->error();
  }
  if (session_->detach(stream)) queue_flush();
  if (answered) {
    conclude_answer(hit, *response);
  } else {
    context_.owner.on_broken(*this, hit, breakage, std::move(error), response.get());
  }
  if (response) context_.responses.give_back(std::move(response));
}

void Http2Connection::conclude_answer(Hit& hit, Response& response) {
  if (hit.redirection == nullptr && response.has_plain_frame()) {
    AnswerCache& cache = hit.target->cache;
    const std::string_view head = response.head_key();
    if (head.size() == cache.head_size() && response.bytes_read() == cache.content_length() &&
        response.body().equals(cache.body) && cache.knows_head(head)) {
      return context_.owner.on_known_answer(*this, hit);
    }
    cache.learn(head, response);
  }
  context_.owner.on_answer(*this, hit, response);
}

Abandoned Http2Connection::abandon(Hit& hit) {
  Http2Stream& stream = *std::exchange(hit.stream, nullptr);
  hit.connection = nullptr;
  Abandoned abandoned{std::move(stream.response), stream.sent && unsent_.empty()};
  // A whole timeout without a word: the next hit gets another connection.
  if (!session_->settled()) reusable_ = false;
  if (session_->detach(stream)) queue_flush();
  return abandoned;
}

// `error` is a copy: closing takes the session with its own. `connection_ended`: it may simply have been
// closed while idle; else the server broke the protocol.
void Http2Connection::break_all(std::string error, bool connection_ended) {
  struct Victim {
    Hit* hit;
    std::unique_ptr<Response> response;
  };
  std::vector<Victim> victims;
  while (Http2Stream* const stream = session_->next_unfinished()) {
    Hit& hit = *std::exchange(stream->hit, nullptr);
    hit.stream = nullptr;
    hit.connection = nullptr;
    victims.push_back({&hit, std::move(stream->response)});
  }
  write_error_ = connection_ended ? ECONNRESET : write_error_;  // no farewell
  close();
  if (victims.empty()) return context_.owner.on_idle_closed(*this);
  for (Victim& victim : victims) {
    const bool begun = victim.response != nullptr;
    context_.owner.on_broken(*this, *victim.hit,
                             connection_ended && !begun ? Breakage::kBeforeAnswer : Breakage::kInAnswer,
                             begun && error == "EOF" ? "unexpected EOF" : error, victim.response.get());
    if (victim.response) context_.responses.give_back(std::move(victim.response));
  }
}

}  // namespace pepe
