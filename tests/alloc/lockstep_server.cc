#include "alloc/lockstep_server.h"

#include <netinet/in.h>
#include <openssl/err.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <utility>

#include "pepe/base/check.h"
#include "support/alloc_scope.h"
#include "support/certificates.h"

namespace pepe {
namespace {

constexpr std::uint32_t kStreams = 16;
constexpr int kIdleMillis = 20;

int pick_protocol(SSL*, const unsigned char** out, unsigned char* size, const unsigned char* in, unsigned in_size,
                  void* wanted) {
  const auto* const protocol = static_cast<const std::string_view*>(wanted);
  unsigned char* found = nullptr;
  const int status = SSL_select_next_proto(&found, size, reinterpret_cast<const unsigned char*>(protocol->data()),
                                           static_cast<unsigned>(protocol->size()), in, in_size);
  *out = found;
  return status == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

std::shared_ptr<SSL_CTX> make_context(bool http2) {
  static constexpr std::string_view kHttp2{"\2h2"};
  static constexpr std::string_view kHttp1{"\10http/1.1"};
  std::shared_ptr<SSL_CTX> context = make_server_context(make_identity({}));
  SSL_CTX_set_alpn_select_cb(context.get(), pick_protocol, const_cast<std::string_view*>(http2 ? &kHttp2 : &kHttp1));
  return context;
}

void watch(int set, int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  ::epoll_ctl(set, EPOLL_CTL_ADD, fd, &event);
}

nghttp2_nv field(std::string_view name, std::string_view value) {
  return {reinterpret_cast<std::uint8_t*>(const_cast<char*>(name.data())),
          reinterpret_cast<std::uint8_t*>(const_cast<char*>(value.data())), name.size(), value.size(), 0};
}

}  // namespace

/// One connection; its socket blocks.
struct LockstepServer::Peer {
  Peer(LockstepServer* its_server, int its_fd) : server{its_server}, fd{its_fd} {}
  Peer(const Peer&) = delete;
  LockstepServer* server;
  int fd;
  SSL* tls{nullptr};
  nghttp2_session* session{nullptr};

  ~Peer() {
    nghttp2_session_del(session);
    SSL_free(tls);
    ::close(fd);
  }
  long read(char* to, std::size_t size) const {
    return tls != nullptr ? SSL_read(tls, to, static_cast<int>(size)) : ::recv(fd, to, size, 0);
  }
  bool write(std::string_view bytes) const {
    while (!bytes.empty()) {
      const long sent = tls != nullptr ? SSL_write(tls, bytes.data(), static_cast<int>(bytes.size()))
                                       : ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
};

LockstepServer::LockstepServer(LockstepOptions options)
    : options_{std::move(options)},
      listener_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)},
      set_{::epoll_create1(EPOLL_CLOEXEC)} {
  ::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes to sockets as if they were files
  if (options_.tls) context_ = make_context(options_.http2);
  // Room for an answer: a send that waits for the client would hold it forever.
  const int room = 512 * 1024;
  ::setsockopt(listener_, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  PEPE_CHECK(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0);
  PEPE_CHECK(::listen(listener_, 1024) == 0);
  ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  watch(set_, listener_);
  hold_waits_while(&answering_);
  thread_ = std::thread{[this] { serve(); }};
}

LockstepServer::~LockstepServer() {
  stop_ = true;
  thread_.join();
  hold_waits_while(nullptr);
  peers_.clear();
  ::close(listener_);
  ::close(set_);
}

std::string LockstepServer::url() const {
  return (options_.tls ? "https://127.0.0.1:" : "http://127.0.0.1:") + std::to_string(port_) + "/";
}

void LockstepServer::serve() {
  std::array<epoll_event, 128> events;
  while (!stop_) {
    const int count = ::epoll_wait(set_, events.data(), static_cast<int>(events.size()), kIdleMillis);
    for (int i = 0; i < count; ++i) {
      const int fd = events[static_cast<std::size_t>(i)].data.fd;
      if (fd == listener_) {
        accept_peer();
      } else if (const auto found = peers_.find(fd); found != peers_.end() && !read_from(*found->second)) {
        drop(*found->second);
      }
    }
    // At the end of the run fewer ask: a turn without news lets them go.
    if (asked_.size() >= options_.together || (count == 0 && !asked_.empty())) answer_all();
  }
}

void LockstepServer::accept_peer() {
  auto peer = std::make_unique<Peer>(this, ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC));
  if (options_.tls) {
    peer->tls = SSL_new(context_.get());
    SSL_set_fd(peer->tls, peer->fd);
    if (SSL_accept(peer->tls) != 1) return ERR_clear_error();
  }
  if (options_.http2) {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_session_server_new(&peer->session, callbacks, peer.get());
    nghttp2_session_callbacks_del(callbacks);
    const nghttp2_settings_entry limit{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, kStreams};
    nghttp2_submit_settings(peer->session, NGHTTP2_FLAG_NONE, &limit, 1);
    if (!flush(*peer)) return;
  }
  watch(set_, peer->fd);
  peers_[peer->fd] = std::move(peer);
}

bool LockstepServer::read_from(Peer& peer) {
  std::array<char, 64 * 1024> buffer;
  do {
    const long count = peer.read(buffer.data(), buffer.size());
    if (count <= 0) return false;
    if (peer.session == nullptr) {  // a request comes in one piece
      asked_.push_back({&peer, 0});
    } else if (nghttp2_session_mem_recv(peer.session, reinterpret_cast<const std::uint8_t*>(buffer.data()),
                                        static_cast<std::size_t>(count)) < 0) {
      return false;
    }
  } while (peer.tls != nullptr && SSL_pending(peer.tls) > 0);
  return peer.session == nullptr || flush(peer);
}

int LockstepServer::on_frame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
  auto* const peer = static_cast<Peer*>(user);
  if (frame->hd.type == NGHTTP2_HEADERS && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0)
    peer->server->asked_.push_back({peer, frame->hd.stream_id});
  return 0;
}

ssize_t LockstepServer::read_body(nghttp2_session*, std::int32_t, std::uint8_t* to, std::size_t size,
                                  std::uint32_t* flags, nghttp2_data_source* source, void*) {
  const auto& body = *static_cast<const std::string*>(source->ptr);
  PEPE_CHECK(body.size() <= size);
  *flags |= NGHTTP2_DATA_FLAG_EOF;
  return static_cast<ssize_t>(body.copy(reinterpret_cast<char*>(to), size));
}

bool LockstepServer::flush(Peer& peer) {
  std::string out;
  const std::uint8_t* data = nullptr;
  for (ssize_t size = 0; (size = nghttp2_session_mem_send(peer.session, &data)) > 0;)
    out.append(reinterpret_cast<const char*>(data), static_cast<std::size_t>(size));
  return peer.write(out);
}

void LockstepServer::answer_all() {
  const std::vector<Asked> asked = std::exchange(asked_, {});
  answering_ = true;
  for (const auto& [peer, stream] : asked) {
    if (peer->session == nullptr) {
      peer->write(options_.answer);
      continue;
    }
    const std::array fields{field(":status", "200"), field("content-type", "text/plain")};
    nghttp2_data_provider provider{};
    provider.source.ptr = const_cast<std::string*>(&options_.body);
    provider.read_callback = read_body;
    nghttp2_submit_response(peer->session, stream, fields.data(), fields.size(), &provider);
  }
  for (const auto& [fd, peer] : peers_)
    if (peer->session != nullptr) flush(*peer);
  answering_ = false;
  answering_.notify_all();
}

void LockstepServer::drop(Peer& peer) {
  std::erase_if(asked_, [&peer](const Asked& asked) { return asked.peer == &peer; });
  peers_.erase(peer.fd);
}

}  // namespace pepe
