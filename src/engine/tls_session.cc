// HOT: once per hit. No allocation, lock, log or wall clock.
#include "engine/tls_session.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "engine/asio.h"
#include "engine/shortage.h"
#include "engine/tls_context.h"
#include "engine/tls_error.h"
#include "engine/transport.h"

namespace pepe {
namespace {

class OpenSslSession final : public TlsSession {
 public:
  OpenSslSession(OpenSslPtr<SSL> ssl, int fd, const std::string& host, const std::string& server, TlsTickets* tickets);
  ~OpenSslSession() override;

  void feed(std::span<const char> ciphertext) override { input_ = ciphertext; }
  void hold() override;
  void feed_end() override { ended_ = true; }
  Status handshake() override;
  bool h2() const override;
  Count read(std::span<char> out) override;
  Count write(std::string_view plaintext) override;
  const std::string& error() const override { return error_; }
  void shutdown() override;

  // The BIO's side.
  int take(char* to, int size);
  int send(const char* from, int size);
  bool at_end() const noexcept { return ended_ && input_.empty() && held_pos_ == held_.size(); }

  void refuse_certificate(X509_STORE_CTX* store) { refusal_ = certificate_error(store, host_); }
  void keep(SSL_SESSION* session) {
    if (tickets_ != nullptr) tickets_->store(server_, OpenSslPtr<SSL_SESSION>{session});
  }
  bool keeps_sessions() const noexcept { return tickets_ != nullptr; }

 private:
  void set_peer_name();
  bool nothing_to_read() const noexcept;
  Status outcome(int result);
  std::string failure_text() const;

  OpenSslPtr<SSL> ssl_;
  const int fd_;
  const std::string host_;
  const std::string server_;
  TlsTickets* const tickets_;
  std::span<const char> input_;  ///< What was fed and not taken yet. The worker's read buffer owns it.
  bool ended_{false};
  bool handshaken_{false};
  int send_errno_{0};
  std::string held_;  ///< Ciphertext that could not be used up before its buffer was needed again; comes
                      ///< before input_.
  std::size_t held_pos_{0};
  std::array<char, 5> first_bytes_{};  ///< Of the peer, for the case that it does not speak TLS.
  std::size_t first_count_{0};
  std::string refusal_;
  std::string error_;
};

int bio_read(BIO* bio, char* to, int size) {
  auto* session = static_cast<OpenSslSession*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  const int got = session->take(to, size);
  if (got == 0 && !session->at_end()) {
    BIO_set_retry_read(bio);
    return -1;
  }
  return got;
}

int bio_write(BIO* bio, const char* from, int size) {
  BIO_clear_retry_flags(bio);
  const int sent = static_cast<OpenSslSession*>(BIO_get_data(bio))->send(from, size);
  // Also when the socket is broken: the session knows, and OpenSSL can still read why the peer hung up.
  if (sent < 0) BIO_set_retry_write(bio);
  return sent;
}

long bio_ctrl(BIO* bio, int command, long, void*) {
  if (command == BIO_CTRL_FLUSH) return 1;
  if (command == BIO_CTRL_EOF) return static_cast<OpenSslSession*>(BIO_get_data(bio))->at_end() ? 1 : 0;
  return 0;
}

const BIO_METHOD* bio_method() {
  static const BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "pepe");
    require_memory(made != nullptr);
    BIO_meth_set_read(made, bio_read);
    BIO_meth_set_write(made, bio_write);
    BIO_meth_set_ctrl(made, bio_ctrl);
    return made;
  }();
  return method;
}

OpenSslSession::OpenSslSession(OpenSslPtr<SSL> ssl, int fd, const std::string& host, const std::string& server,
                               TlsTickets* tickets)
    : ssl_{std::move(ssl)}, fd_{fd}, host_{host.empty() ? "localhost" : host}, server_{server}, tickets_{tickets} {
  BIO* bio = BIO_new(bio_method());
  require_memory(bio != nullptr);
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl_.get(), bio, bio);
  SSL_set_app_data(ssl_.get(), this);
  SSL_set_connect_state(ssl_.get());
  set_peer_name();
  if (SSL_SESSION* known = tickets_ == nullptr ? nullptr : tickets_->find(server_)) SSL_set_session(ssl_.get(), known);
}

OpenSslSession::~OpenSslSession() {
  // OpenSSL makes the ticket of a connection that ends without a farewell useless; ends like that are
  // ordinary here.
  if (handshaken_) SSL_set_shutdown(ssl_.get(), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
}

void OpenSslSession::set_peer_name() {
  // A name is looked for in the subject alternative names only: the common name has not counted for many
  // years.
  X509_VERIFY_PARAM* wanted = SSL_get0_param(ssl_.get());
  X509_VERIFY_PARAM_set_hostflags(wanted, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  error_code ec;
  asio::ip::address address = asio::ip::make_address(host_, ec);
  if (!ec) {
    if (address.is_v4()) {
      const auto bytes = address.to_v4().to_bytes();
      X509_VERIFY_PARAM_set1_ip(wanted, bytes.data(), bytes.size());
    } else {
      const auto bytes = address.to_v6().to_bytes();
      X509_VERIFY_PARAM_set1_ip(wanted, bytes.data(), bytes.size());
    }
    return;
  }
  std::string name = host_;
  if (name.back() == '.') name.pop_back();
  X509_VERIFY_PARAM_set1_host(wanted, name.data(), name.size());
  SSL_set_tlsext_host_name(ssl_.get(), name.c_str());
}

bool OpenSslSession::h2() const {
  const unsigned char* name = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(ssl_.get(), &name, &size);
  return size == 2 && std::memcmp(name, "h2", 2) == 0;
}

int OpenSslSession::take(char* to, int size) {
  const auto room = static_cast<std::size_t>(size);
  std::size_t got = 0;
  if (held_pos_ < held_.size()) {
    got = std::min(room, held_.size() - held_pos_);
    std::memcpy(to, held_.data() + held_pos_, got);
    held_pos_ += got;
    if (held_pos_ == held_.size()) {
      held_ = std::string{};
      held_pos_ = 0;
    }
  } else if (!input_.empty()) {
    got = std::min(room, input_.size());
    std::memcpy(to, input_.data(), got);
    input_ = input_.subspan(got);
  }
  if (first_count_ < first_bytes_.size()) {
    const std::size_t kept = std::min(got, first_bytes_.size() - first_count_);
    std::memcpy(first_bytes_.data() + first_count_, to, kept);
    first_count_ += kept;
  }
  return static_cast<int>(got);
}

int OpenSslSession::send(const char* from, int size) {
  ssize_t sent = 0;
  do sent = ::send(fd_, from, static_cast<std::size_t>(size), MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  if (sent < 0 && errno != EAGAIN) send_errno_ = errno;
  return static_cast<int>(sent);
}

TlsSession::Status OpenSslSession::handshake() {
  const int result = SSL_do_handshake(ssl_.get());
  if (result == 1) {
    handshaken_ = true;
    hold();
    return Status::kOk;
  }
  const Status status = outcome(result);
  if (status != Status::kClosed) return status;
  error_ = "EOF";
  return Status::kError;
}

bool OpenSslSession::nothing_to_read() const noexcept {
  return input_.empty() && held_.empty() && !ended_ && SSL_pending(ssl_.get()) == 0;
}

TlsSession::Count OpenSslSession::read(std::span<char> out) {
  // Asked all the same, OpenSSL would set a buffer aside and release it again.
  if (nothing_to_read()) return {Status::kWantRead, 0};
  std::size_t got = 0;
  const int result = SSL_read_ex(ssl_.get(), out.data(), out.size(), &got);
  if (result == 1) return {Status::kOk, got};
  return {outcome(result), 0};
}

TlsSession::Count OpenSslSession::write(std::string_view plaintext) {
  std::size_t written = 0;
  while (written < plaintext.size()) {
    std::size_t sent = 0;
    const int result = SSL_write_ex(ssl_.get(), plaintext.data() + written, plaintext.size() - written, &sent);
    if (result != 1) {
      const Status status = outcome(result);
      if (status == Status::kError || written == 0) return {status, 0};
      break;
    }
    written += sent;
  }
  return {Status::kOk, written};
}

void OpenSslSession::shutdown() {
  if (!handshaken_ || send_errno_ != 0) return;
  SSL_shutdown(ssl_.get());
  ERR_clear_error();
}

// Keeps what is left of the input, since its owner is about to use the memory again.
void OpenSslSession::hold() {
  held_.append(input_.data(), input_.size());
  input_ = {};
}

TlsSession::Status OpenSslSession::outcome(int result) {
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ: return Status::kWantRead;
    case SSL_ERROR_WANT_WRITE:
      if (send_errno_ == 0) {
        hold();
        return Status::kWantWrite;
      }
      error_ = socket_error("write", fd_, send_errno_);
      break;
    case SSL_ERROR_ZERO_RETURN: return Status::kClosed;
    default: error_ = failure_text(); break;
  }
  ERR_clear_error();
  return Status::kError;
}

std::string OpenSslSession::failure_text() const {
  const unsigned long code = ERR_peek_error();
  const int reason = ERR_GET_LIB(code) == ERR_LIB_SSL ? ERR_GET_REASON(code) : 0;
  if (reason == SSL_R_CERTIFICATE_VERIFY_FAILED) return "tls: failed to verify certificate: " + refusal_;
  if (reason == SSL_R_UNEXPECTED_EOF_WHILE_READING || code == 0) return handshaken_ ? "unexpected EOF" : "EOF";
  if (!handshaken_ && first_count_ == first_bytes_.size()) {
    if (std::string_view{first_bytes_.data(), first_count_} == "HTTP/") {
      return "http: server gave HTTP response to HTTPS client";
    }
    const bool is_tls =
        (first_bytes_[0] == SSL3_RT_HANDSHAKE || first_bytes_[0] == SSL3_RT_ALERT) && first_bytes_[1] == 3;
    if (!is_tls) return "tls: first record does not look like a TLS handshake";
  }
  return library_error(code);
}

OpenSslSession* session_of(const SSL* ssl) { return static_cast<OpenSslSession*>(SSL_get_app_data(ssl)); }

}  // namespace

int verify_tls_peer(int verified, X509_STORE_CTX* store) {
  if (verified == 1) return 1;
  auto* ssl = static_cast<SSL*>(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  if (ssl != nullptr) session_of(ssl)->refuse_certificate(store);
  return 0;
}

int keep_tls_session(SSL* ssl, SSL_SESSION* session) {
  OpenSslSession* owner = session_of(ssl);
  if (!owner->keeps_sessions()) return 0;
  owner->keep(session);
  return 1;
}

std::unique_ptr<TlsSession> make_tls_session(OpenSslPtr<SSL> ssl, int fd, const std::string& host,
                                             const std::string& server, TlsTickets* tickets) {
  return std::make_unique<OpenSslSession>(std::move(ssl), fd, host, server, tickets);
}

}  // namespace pepe
