// HOT: once per hit. No allocation, lock, log or wall clock.
#include "engine/http1_connection.h"

#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "pepe/base/check.h"

namespace pepe {

bool Http1Connection::open(Dialed dialed, Pool& pool) {
  static_assert(sizeof(Http1Connection) <= kTouchedBytes);
  take_over(dialed, pool);
  hit_ = nullptr;
  hits_ = 0;
  closing_ = surplus_ = false;
  unsent_.clear();
  if (context_.ready.add(fd_, static_cast<Connection*>(this))) return true;
  close();
  return false;
}

void Http1Connection::close() {
  if (fd_ < 0) return;
  if (tls_) tls_->shutdown();
  tls_.reset();
  context_.ready.remove(fd_);
  ::close(fd_);
  fd_ = -1;
  reusable_ = false;
  unsent_.clear();
}

void Http1Connection::drop() noexcept {
  hit_ = nullptr;
  response_.reset();
  forget_pause();
  close();
}

void Http1Connection::start(Hit& hit) {
  PEPE_CHECK(is_open() && hit_ == nullptr);
  hit_ = &hit;
  hit.connection = this;
  hit.reused = hits_++ > 0;
  reusable_ = false;
  const Request& request = *hit.request;
  send_from(context_.writer.write(request, hit.seq),
            request.body ? std::string_view{*request.body} : std::string_view{});
}

// Bytes sent, or -1 with errno.
long Http1Connection::send_some(std::string_view head, std::string_view body) {
  if (tls_) return send_sealed(head.empty() ? body : head);
  if (body.empty()) return ::send(fd_, head.data(), head.size(), MSG_NOSIGNAL);
  std::array<iovec, 2> parts{
      {{const_cast<char*>(head.data()), head.size()}, {const_cast<char*>(body.data()), body.size()}}};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  return ::sendmsg(fd_, &message, MSG_NOSIGNAL);
}

void Http1Connection::send_from(std::string_view head, std::string_view body) {
  while (!head.empty() || !body.empty()) {
    const long sent = send_some(head, body);
    if (sent >= 0) {
      const std::size_t of_head = std::min(head.size(), static_cast<std::size_t>(sent));
      head.remove_prefix(of_head);
      body.remove_prefix(static_cast<std::size_t>(sent) - of_head);
      continue;
    }
    if (errno == EINTR) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      // `head` may be a view of what is left already.
      std::string rest{head};
      unsent_.head.swap(rest);
      unsent_.head_at = 0;
      unsent_.body = body;
      context_.ready.await_writable(fd_);
      return;
    }
    // The server may have answered before it closed: what it said counts more than that it stopped listening.
    write_error_ = errno;
    unsent_.clear();
    on_readable(true);
    return;
  }
  unsent_.clear();
}

void Http1Connection::on_ready(const ReadyEvent& event) {
  if (!is_open()) return;  // closed earlier in this turn
  closing_ = closing_ || event.closing;
  if (event.writable && !unsent_.empty()) on_writable();
  if (event.writable) on_room();
  if (is_open() && (event.readable || event.closing)) on_readable(event.drain);
}

void Http1Connection::on_writable() {
  Unsent rest;
  std::swap(rest, unsent_);
  send_from(std::string_view{rest.head}.substr(rest.head_at), rest.body);
}

// False: the connection is closed.
bool Http1Connection::on_bytes(std::string_view bytes) {
  if (hit_ == nullptr) {  // nobody asked
    close();
    context_.owner.on_idle_closed(*this);
    return false;
  }
  if (response_ != nullptr) return feed(bytes, false);
  if (hit_->redirection == nullptr && hit_->target->cache.knows_head(bytes)) return on_known_head(bytes);
  response_ = context_.responses.take();
  response_->start(expectation_for(*hit_, context_.keep_limit));
  return feed(bytes, true);
}

// A connection carries another hit only where the answer ended with the last byte that came, and where neither side has
// said or shown that it ends. Surplus bytes would be the next hit's answer.
bool Http1Connection::may_go_on(bool keep_alive, bool surplus) const noexcept {
  return keep_alive && !surplus && !closing_ && unsent_.empty() && write_error_ == 0 && !hit_->request->close;
}

bool Http1Connection::on_known_head(std::string_view bytes) {
  const AnswerCache& cache = hit_->target->cache;
  std::string_view body = bytes.substr(cache.head_size());
  const bool surplus = body.size() > cache.content_length();
  if (surplus) body = body.substr(0, static_cast<std::size_t>(cache.content_length()));
  const std::string_view kept =
      body.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(body.size(), context_.keep_limit)));
  if (body.size() == cache.content_length() && cache.body.bytes() == kept) {
    reusable_ = may_go_on(true, surplus);
    Hit& hit = *hit_;
    hit_ = nullptr;
    hit.connection = nullptr;
    context_.owner.on_known_answer(*this, hit);
    return is_open();
  }
  response_ = context_.responses.take();
  response_->start_fixed(expectation_for(*hit_, context_.keep_limit), cache.content_length());
  return feed(bytes.substr(cache.head_size()), false);
}

bool Http1Connection::feed(std::string_view bytes, bool first) {
  std::size_t used = 0;
  // An empty feed completes an answer without a body whose head was known.
  const Response::Status status = response_->feed(bytes, used);
  if (first && response_->has_plain_frame() && hit_->redirection == nullptr) {
    const std::size_t head_size = bytes.find("\r\n\r\n") + 4;
    if (head_size + response_->bytes_read() == used) hit_->target->cache.learn(bytes.substr(0, head_size), *response_);
  }
  surplus_ = used < bytes.size();
  return conclude(status);
}

void Http1Connection::unpack() {
  if (response_ != nullptr && response_->busy()) conclude(response_->go_on());
}

bool Http1Connection::conclude(Response::Status status) {
  switch (status) {
    case Response::Status::kNeedMore: return true;
    case Response::Status::kBusy: pause(); return true;
    case Response::Status::kComplete: answered(); return is_open();
    case Response::Status::kError: broken(Breakage::kInAnswer, response_->error()); return false;
  }
  return false;
}

void Http1Connection::answered() {
  reusable_ = may_go_on(response_->keep_alive(), surplus_);
  Hit& hit = *hit_;
  hit_ = nullptr;
  hit.connection = nullptr;
  auto response = std::move(response_);
  context_.owner.on_answer(*this, hit, *response);
  context_.responses.give_back(std::move(response));
}

// `clean`: the end of the connection may be the end of a body.
void Http1Connection::on_end(std::string error, bool clean) {
  if (hit_ == nullptr) {
    close();
    context_.owner.on_idle_closed(*this);
    return;
  }
  if (response_ == nullptr) return broken(Breakage::kBeforeAnswer, std::move(error));
  if (clean) {
    closing_ = true;
    if (response_->end_of_input() == Response::Status::kComplete) return answered();
    error = response_->error();
  } else if (response_->begun() && error == "EOF") {
    error = "unexpected EOF";
  }
  broken(Breakage::kInAnswer, std::move(error));
}

void Http1Connection::broken(Breakage breakage, std::string error) {
  Hit& hit = *hit_;
  hit_ = nullptr;
  hit.connection = nullptr;
  auto response = std::move(response_);
  close();
  context_.owner.on_broken(*this, hit, breakage, std::move(error), response.get());
  if (response) context_.responses.give_back(std::move(response));
}

Abandoned Http1Connection::abandon(Hit& hit) {
  hit.connection = nullptr;
  hit_ = nullptr;
  const bool sent = unsent_.empty();
  close();
  return {std::move(response_), sent};
}

}  // namespace pepe
