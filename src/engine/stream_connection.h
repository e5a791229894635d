// HOT: once per hit. No allocation, lock, log or wall clock.
#pragma once

#include <sys/socket.h>

#include <cerrno>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "engine/connection.h"
#include "engine/socket_text.h"
#include "engine/tls_session.h"

namespace pepe {

/// The reading side of a connection, plain or TLS, whatever its protocol. `Self` has:
///   bool on_bytes(std::string_view)             plaintext; false: the connection is closed
///   void on_end(std::string error, bool clean)  nothing more will come; clean: as far as TLS or TCP can tell
///   void unpack()                               goes on with what it put off by calling pause()
template <class Self>
class StreamConnection : public Connection {
 public:
  using Connection::Connection;

  void go_on() final {
    listed_ = false;
    if (is_open() && pause_ == Pause::kForOthers) read_on();  // what it had to send may have closed it meanwhile
  }

 protected:
  void take_over(Dialed& dialed, Pool& pool) {
    fd_ = std::exchange(dialed.fd, -1);
    tls_ = std::move(dialed.tls);
    pool_ = &pool;
    peer_ = std::move(dialed.peer);
    peer_text_ = peer_address_text(fd_);
    reusable_ = true;
    write_error_ = 0;
    pause_ = Pause::kNo;
  }

  /// Reads nothing more in this turn: the other connections have theirs, and deadlines are looked at.
  void pause() {
    pause_ = Pause::kForOthers;
    if (std::exchange(listed_, true)) return;
    context_.unfinished.push_back(this);
  }

  void forget_pause() noexcept {
    pause_ = Pause::kNo;
    listed_ = false;
  }

  /// TLS may have had to write before it could read on.
  void on_room() {
    if (pause_ == Pause::kForRoom) read_on();
  }

  // The edge of what is in the socket may be long gone, so that all of it is read.
  void read_on() {
    pause_ = Pause::kNo;
    self().unpack();
    if (tls_ && may_read()) on_plaintext();
    if (may_read()) on_readable(true);
  }

  void on_readable(bool drain) {
    for (int reads = 0; may_read(); ++reads) {
      if (reads == kReadsPerTurn) return pause();
      const std::span<char> buffer = context_.read_buffer;
      const long count = ::recv(fd_, buffer.data(), buffer.size(), 0);
      if (count > 0) {
        const std::string_view bytes{buffer.data(), static_cast<std::size_t>(count)};
        if (tls_) {
          tls_->feed({bytes.data(), bytes.size()});
          on_plaintext();
        } else if (!self().on_bytes(bytes)) {
          return;
        }
        // A short read empties the socket, and what comes later is another edge; only an end may hide behind it.
        if (bytes.size() < buffer.size() && !drain) return;
        continue;
      }
      if (count == 0) return on_socket_end();
      if (errno == EINTR) continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK) {
        if (write_error_ != 0) self().on_end(socket_failure("write", fd_, write_error_, peer_text_), false);
        return;
      }
      return self().on_end(socket_failure("read", fd_, errno, peer_text_), false);
    }
  }

  void on_plaintext() {
    while (may_read()) {
      const TlsSession::Count got = tls_->read(context_.plain_buffer);
      if (got.bytes > 0) {
        if (!self().on_bytes({context_.plain_buffer.data(), got.bytes})) return;
        continue;
      }
      switch (got.status) {
        case TlsSession::Status::kOk:
        case TlsSession::Status::kWantRead: return;
        case TlsSession::Status::kWantWrite:
          pause_ = Pause::kForRoom;
          context_.ready.await_writable(fd_);
          return;
        case TlsSession::Status::kClosed: return self().on_end("EOF", true);
        case TlsSession::Status::kError: return self().on_end(tls_->error(), false);
      }
    }
    if (is_open()) tls_->hold();
  }

  /// Bytes sent, or -1 with errno. REQUIRES: tls_.
  long send_sealed(std::string_view plaintext) {
    const TlsSession::Count sent = tls_->write(plaintext);
    if (sent.bytes > 0) return static_cast<long>(sent.bytes);
    errno = sent.status == TlsSession::Status::kError ? EPIPE : EAGAIN;
    return -1;
  }

  std::unique_ptr<TlsSession> tls_;
  int write_error_{0};

 private:
  enum class Pause { kNo, kForOthers, kForRoom };

  // What a fast peer may send before others have their turn: four times the read buffer.
  static constexpr int kReadsPerTurn = 4;

  Self& self() { return static_cast<Self&>(*this); }
  bool may_read() const noexcept { return is_open() && pause_ == Pause::kNo; }

  void on_socket_end() {
    if (tls_) {
      tls_->feed_end();
      on_plaintext();
      if (!may_read()) return;
    }
    self().on_end("EOF", !tls_);
  }

  Pause pause_{Pause::kNo};
  bool listed_{false};  // in context_.unfinished
};

}  // namespace pepe
