#include "engine/tls_context.h"

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "pepe/base/error.h"

namespace pepe {
namespace {

// In the form that ALPN wants: each name behind its length.
constexpr std::string_view kAlpnHttp1 = "\x08http/1.1";
constexpr std::string_view kAlpnHttp2 = "\x02h2\x08http/1.1";
// A key or a bundle of certificates is far smaller; a device or a log file given by mistake is not read to
// its end.
constexpr std::size_t kMaxPemBytes = 64 << 20;
// Servers whose sessions are kept: beyond this many, all are forgotten.
constexpr std::size_t kMaxTickets = 10'000;

// Where distributions keep their authorities, for a binary whose OpenSSL was built for another one.
constexpr std::array kSystemBundles = {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
                                       "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/ca-bundle.pem",
                                       "/etc/ssl/cert.pem"};

Expected<std::string> read_pem(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return system_error("open " + path, errno);
  std::string text;
  std::array<char, 65536> buffer;
  ssize_t got = 0;
  do {
    got = read(fd, buffer.data(), buffer.size());
    if (got > 0) text.append(buffer.data(), static_cast<std::size_t>(got));
  } while ((got > 0 && text.size() < kMaxPemBytes) || (got < 0 && errno == EINTR));
  const int read_errno = errno;
  close(fd);
  if (got < 0) return system_error("read " + path, read_errno);
  return text;
}

OpenSslPtr<BIO> memory_bio(const std::string& text) {
  return OpenSslPtr<BIO>{BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))};
}

// OpenSSL's own asks at the terminal for the password of an encrypted key.
int no_password(char*, int, int, void*) { return -1; }

// Blocks that are no certificate are passed over, as are trailing texts.
std::size_t add_authorities(X509_STORE* store, const std::string& pem) {
  const OpenSslPtr<BIO> bio = memory_bio(pem);
  std::size_t added = 0;
  while (bio) {
    const OpenSslPtr<X509> certificate{PEM_read_bio_X509(bio.get(), nullptr, no_password, nullptr)};
    if (certificate) {
      if (X509_STORE_add_cert(store, certificate.get()) == 1) ++added;
    } else if (ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE) {
      break;
    }
    ERR_clear_error();
  }
  ERR_clear_error();
  return added;
}

bool exists(const char* path) { return access(path, R_OK) == 0; }

void use_system_authorities(SSL_CTX* ctx) {
  SSL_CTX_set_default_verify_paths(ctx);
  const bool chosen = std::getenv(X509_get_default_cert_file_env()) || std::getenv(X509_get_default_cert_dir_env());
  if (!chosen && !exists(X509_get_default_cert_file()) && !exists(X509_get_default_cert_dir())) {
    for (const char* bundle : kSystemBundles) {
      if (exists(bundle) && SSL_CTX_load_verify_file(ctx, bundle) == 1) break;
    }
  }
  ERR_clear_error();
}

Expected<void> use_authorities(SSL_CTX* ctx, const TlsOptions& options) {
  if (options.root_cert_files.empty()) {
    if (!options.insecure) use_system_authorities(ctx);
    return {};
  }
  for (const std::string& path : options.root_cert_files) {
    Expected<std::string> pem = read_pem(path);
    if (!pem) return std::move(pem).error();
    if (add_authorities(SSL_CTX_get_cert_store(ctx), *pem) == 0) return Error{"bad certificate: none in " + path};
  }
  return {};
}

Expected<void> use_certificate_chain(SSL_CTX* ctx, const std::string& path, const std::string& pem) {
  const OpenSslPtr<BIO> bio = memory_bio(pem);
  const OpenSslPtr<X509> leaf{PEM_read_bio_X509(bio.get(), nullptr, no_password, nullptr)};
  if (!leaf || SSL_CTX_use_certificate(ctx, leaf.get()) != 1) {
    ERR_clear_error();
    return Error{"tls: no certificate in " + path};
  }
  while (OpenSslPtr<X509> link{PEM_read_bio_X509(bio.get(), nullptr, no_password, nullptr)}) {
    if (SSL_CTX_add1_chain_cert(ctx, link.get()) != 1) break;
  }
  ERR_clear_error();
  return {};
}

Expected<void> use_key(SSL_CTX* ctx, const std::string& path, const std::string& pem) {
  const OpenSslPtr<BIO> bio = memory_bio(pem);
  const OpenSslPtr<EVP_PKEY> key{PEM_read_bio_PrivateKey(bio.get(), nullptr, no_password, nullptr)};
  const bool locked = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_BAD_PASSWORD_READ ||
                      ERR_GET_REASON(ERR_peek_error()) == PEM_R_BAD_PASSWORD_READ;
  ERR_clear_error();
  if (!key) {
    return Error{locked ? "tls: the private key in " + path + " is encrypted" : "tls: no private key in " + path};
  }
  const bool matches = SSL_CTX_use_PrivateKey(ctx, key.get()) == 1 && SSL_CTX_check_private_key(ctx) == 1;
  ERR_clear_error();
  if (!matches) return Error{"tls: private key does not match public key: " + path};
  return {};
}

Expected<void> use_client_certificate(SSL_CTX* ctx, const TlsOptions& options) {
  if (options.cert_file.empty()) {
    if (options.key_file.empty()) return {};
    Expected<std::string> unused = read_pem(options.key_file);
    if (!unused) return std::move(unused).error();
    return {};
  }
  Expected<std::string> chain = read_pem(options.cert_file);
  if (!chain) return std::move(chain).error();
  if (Expected<void> used = use_certificate_chain(ctx, options.cert_file, *chain); !used) return used;
  const std::string& key_file = options.key_file.empty() ? options.cert_file : options.key_file;
  Expected<std::string> key = read_pem(key_file);
  if (!key) return std::move(key).error();
  return use_key(ctx, key_file, *key);
}

// TLS is strict as HTTP is (Response::start): 1.2 at least, no renegotiation, no end without a farewell. What a
// certificate is refused for stands in the hit's error (certificate_error()).
void configure(SSL_CTX* ctx, const TlsOptions& options) {
  SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
  // An end without close_notify stays an error: it may be an attacker's, and the rest of a body is missing
  // then.
  SSL_CTX_clear_options(ctx, SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_verify(ctx, options.insecure ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, verify_tls_peer);
  if (options.session_tickets) {
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(ctx, keep_tls_session);
  } else {
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET);
  }
}

}  // namespace

SSL_SESSION* TlsTickets::find(const std::string& server) const {
  const auto found = sessions_.find(server);
  return found == sessions_.end() ? nullptr : found->second.get();
}

void TlsTickets::store(const std::string& server, OpenSslPtr<SSL_SESSION> session) {
  if (sessions_.size() >= kMaxTickets && !sessions_.contains(server)) sessions_.clear();
  sessions_[server] = std::move(session);
}

Expected<std::unique_ptr<TlsContext>> TlsContext::make(const TlsOptions& options) {
  OpenSslPtr<SSL_CTX> ctx{SSL_CTX_new(TLS_client_method())};
  if (!ctx) return Error{"tls: OpenSSL cannot be set up"};
  configure(ctx.get(), options);
  if (Expected<void> used = use_authorities(ctx.get(), options); !used) return std::move(used).error();
  if (Expected<void> used = use_client_certificate(ctx.get(), options); !used) return std::move(used).error();
  return std::unique_ptr<TlsContext>{new TlsContext{std::move(ctx)}};
}

std::unique_ptr<TlsSession> TlsContext::make_session(int fd, const std::string& host, const std::string& server,
                                                     TlsTickets* tickets, bool offer_h2) const {
  OpenSslPtr<SSL> ssl{SSL_new(ctx_.get())};
  if (!ssl) return nullptr;
  const std::string_view alpn = offer_h2 ? kAlpnHttp2 : kAlpnHttp1;
  if (SSL_set_alpn_protos(ssl.get(), reinterpret_cast<const unsigned char*>(alpn.data()),
                          static_cast<unsigned>(alpn.size())) != 0)
    return nullptr;
  return make_tls_session(std::move(ssl), fd, host, server, tickets);
}

}  // namespace pepe
