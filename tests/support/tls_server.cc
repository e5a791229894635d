#include "support/tls_server.h"

#include <netinet/in.h>
#include <openssl/err.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace pepe {
namespace {

int pick_http2(SSL*, const unsigned char** out, unsigned char* size, const unsigned char* in, unsigned in_size, void*) {
  static constexpr unsigned char kProtocols[] = "\2h2\10http/1.1";
  unsigned char* found = nullptr;
  const int picked = SSL_select_next_proto(&found, size, kProtocols, sizeof kProtocols - 1, in, in_size);
  *out = found;
  return picked == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

/// Exactly so many bytes; fewer at the end.
std::string receive(SSL* ssl, std::size_t size) {
  std::string text(size, '\0');
  std::size_t got = 0;
  while (got < size) {
    const int count = SSL_read(ssl, text.data() + got, static_cast<int>(size - got));
    if (count <= 0) break;
    got += static_cast<std::size_t>(count);
  }
  text.resize(got);
  return text;
}

/// The head of an HTTP/2 frame and, behind it, its payload.
std::string frame(char type, char flags, std::string_view stream, std::string_view payload) {
  std::string out{'\0', '\0', static_cast<char>(payload.size()), type, flags};
  return out.append(stream).append(payload);
}

}  // namespace

TlsServer::TlsServer(const TlsServerOptions& options) : context_{make_server_context(options.chain)} {
  std::signal(SIGPIPE, SIG_IGN);  // OpenSSL's own socket BIO raises it.
  if (options.http2) SSL_CTX_set_alpn_select_cb(context_.get(), pick_http2, nullptr);
  if (options.client_authority != nullptr) {
    SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context_.get()), options.client_authority->certificate.get());
  }
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(listener_, 100) != 0)
    std::abort();
  ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  thread_ = std::thread{[this] { run(); }};
}

TlsServer::~TlsServer() {
  ::shutdown(listener_, SHUT_RDWR);
  ::shutdown(connection_, SHUT_RDWR);
  thread_.join();
  ::close(listener_);
}

std::vector<std::string> TlsServer::requests() const {
  const std::lock_guard lock{mutex_};
  return requests_;
}

void TlsServer::note(std::string request) {
  const std::lock_guard lock{mutex_};
  requests_.push_back(std::move(request));
}

void TlsServer::run() {
  for (;;) {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) return;
    connection_ = fd;
    const std::unique_ptr<SSL, decltype(&SSL_free)> ssl{SSL_new(context_.get()), SSL_free};
    SSL_set_fd(ssl.get(), fd);
    if (SSL_accept(ssl.get()) == 1) {
      serve(ssl.get());
    } else {
      // Closed at once, with what the client has sent unread, the socket would take the alert back.
      char rest[4096];
      ::shutdown(fd, SHUT_WR);
      while (::recv(fd, rest, sizeof rest, 0) > 0) {
      }
    }
    ERR_clear_error();
    connection_ = -1;
    ::close(fd);
  }
}

void TlsServer::serve(SSL* ssl) {
  const unsigned char* name = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(ssl, &name, &size);
  size == 2 ? serve_http2(ssl) : serve_http1(ssl);
}

void TlsServer::serve_http1(SSL* ssl) {
  std::string head;
  for (std::string byte = receive(ssl, 1); !byte.empty(); byte = receive(ssl, 1)) {
    head += byte;
    if (!head.ends_with("\r\n\r\n")) continue;
    note(std::exchange(head, {}));
    send_text(ssl, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  }
}

// As little of it as a client needs: SETTINGS are acknowledged, each request is answered with status 200.
void TlsServer::serve_http2(SSL* ssl) {
  constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  constexpr char kData = 0, kHeaders = 1, kSettings = 4, kAck = 1, kEndStream = 1, kEndHeaders = 4;
  constexpr std::string_view kStatus200 = "\x88";
  const std::string connection(4, '\0');
  if (receive(ssl, kPreface.size()) != kPreface) return;
  send_text(ssl, frame(kSettings, 0, connection, ""));
  for (std::string head = receive(ssl, 9); head.size() == 9; head = receive(ssl, 9)) {
    const auto byte = [&head](std::size_t at) {
      return static_cast<std::size_t>(static_cast<unsigned char>(head[at]));
    };
    const std::string payload = receive(ssl, byte(0) << 16 | byte(1) << 8 | byte(2));
    if (head[3] == kSettings && (head[4] & kAck) == 0) send_text(ssl, frame(kSettings, kAck, connection, ""));
    if (head[3] != kHeaders) continue;
    note(payload);
    send_text(ssl, frame(kHeaders, kEndHeaders, head.substr(5), kStatus200));
    send_text(ssl, frame(kData, kEndStream, head.substr(5), "ok"));
  }
}

}  // namespace pepe
