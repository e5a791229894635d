#include "bench/tls.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace pepe {
namespace {

struct CertificateDeleter {
  void operator()(X509* certificate) const noexcept { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const noexcept { EVP_PKEY_free(key); }
};
using Certificate = std::unique_ptr<X509, CertificateDeleter>;
using Key = std::unique_ptr<EVP_PKEY, CertificateDeleter>;

Error tls_error(const std::string& what) {
  char reason[256] = "unknown";
  if (const unsigned long code = ERR_get_error(); code != 0) ERR_error_string_n(code, reason, sizeof reason);
  return Error{what + ": " + reason};
}

bool add_extension(X509* certificate, int nid, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value);
  if (extension == nullptr) return false;
  const bool added = X509_add_ext(certificate, extension, -1) == 1;
  X509_EXTENSION_free(extension);
  return added;
}

Certificate make_certificate(EVP_PKEY* key) {
  Certificate certificate{X509_new()};
  X509* raw = certificate.get();
  constexpr long kDay = 24 * 60 * 60;
  const auto* name_text = reinterpret_cast<const unsigned char*>("localhost");
  X509_NAME* name = X509_get_subject_name(raw);
  const bool made = X509_set_version(raw, 2) && ASN1_INTEGER_set(X509_get_serialNumber(raw), 1) &&
                    X509_gmtime_adj(X509_getm_notBefore(raw), -kDay) != nullptr &&
                    X509_gmtime_adj(X509_getm_notAfter(raw), 7 * kDay) != nullptr && X509_set_pubkey(raw, key) &&
                    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, name_text, -1, -1, 0) &&
                    X509_set_issuer_name(raw, name) && add_extension(raw, NID_basic_constraints, "critical,CA:TRUE") &&
                    add_extension(raw, NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1,IP:::1") &&
                    X509_sign(raw, key, EVP_sha256()) != 0;
  return made ? std::move(certificate) : nullptr;
}

Expected<void> write_pem(X509* certificate, const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return system_error("open " + path, errno);
  const bool written = PEM_write_X509(file, certificate) == 1;
  if (std::fclose(file) != 0 || !written) return system_error("write " + path, errno);
  return {};
}

// `ours`: what the server speaks, the best first, as ALPN writes it.
int choose_protocol(SSL*, const unsigned char** out, unsigned char* out_size, const unsigned char* in, unsigned in_size,
                    void* ours) {
  const std::string_view names{static_cast<const char*>(ours)};
  unsigned char* chosen = nullptr;
  if (SSL_select_next_proto(&chosen, out_size, reinterpret_cast<const unsigned char*>(names.data()),
                            static_cast<unsigned>(names.size()), in, in_size) != OPENSSL_NPN_NEGOTIATED)
    return SSL_TLSEXT_ERR_NOACK;
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

}  // namespace

Expected<TlsContext> make_server_context(const std::string& pem_file, bool http2) {
  const Key key{EVP_EC_gen("P-256")};
  if (key == nullptr) return tls_error("key");
  const Certificate certificate = make_certificate(key.get());
  if (certificate == nullptr) return tls_error("certificate");
  TlsContext context{SSL_CTX_new(TLS_server_method())};
  if (context == nullptr || SSL_CTX_use_certificate(context.get(), certificate.get()) != 1 ||
      SSL_CTX_use_PrivateKey(context.get(), key.get()) != 1)
    return tls_error("TLS");
  SSL_CTX_set_mode(context.get(),
                   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
  static char both[] = "\x02h2\x08http/1.1";
  static char http1[] = "\x08http/1.1";
  SSL_CTX_set_alpn_select_cb(context.get(), choose_protocol, http2 ? both : http1);
  if (!pem_file.empty())
    if (auto written = write_pem(certificate.get(), pem_file); !written) return std::move(written).error();
  return context;
}

Expected<TlsContext> make_client_context() {
  TlsContext context{SSL_CTX_new(TLS_client_method())};
  if (context == nullptr) return tls_error("TLS");
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_NONE, nullptr);
  SSL_CTX_set_read_ahead(context.get(), 1);
  return context;
}

TlsStream::TlsStream(SSL_CTX* context, int fd) : fd_{fd}, tls_{SSL_new(context)} {
  BIO* bio = BIO_new(bio_method());
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(tls_.get(), bio, bio);
  SSL_set_accept_state(tls_.get());
}

int TlsStream::read(char* out, int size) {
  const int count = SSL_read(tls_.get(), out, size);
  if (count > 0) return count;
  const int reason = SSL_get_error(tls_.get(), count);
  ERR_clear_error();
  return reason == SSL_ERROR_WANT_READ || reason == SSL_ERROR_WANT_WRITE ? 0 : -1;
}

int TlsStream::write(std::string_view plaintext) {
  const int size = static_cast<int>(std::min<std::size_t>(plaintext.size(), 1U << 30));
  const int count = SSL_write(tls_.get(), plaintext.data(), size);
  if (count > 0) return count;
  const int reason = SSL_get_error(tls_.get(), count);
  ERR_clear_error();
  return reason == SSL_ERROR_WANT_READ || reason == SSL_ERROR_WANT_WRITE ? 0 : -1;
}

BIO_METHOD* TlsStream::bio_method() {
  static BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "bench stream");
    BIO_meth_set_read(made, [](BIO* bio, char* out, int size) {
      auto* stream = static_cast<TlsStream*>(BIO_get_data(bio));
      BIO_clear_retry_flags(bio);
      const std::size_t count = std::min(stream->input_.size(), static_cast<std::size_t>(size));
      if (count == 0) {
        BIO_set_retry_read(bio);
        return -1;
      }
      std::memcpy(out, stream->input_.data(), count);
      stream->input_.remove_prefix(count);
      return static_cast<int>(count);
    });
    BIO_meth_set_write(made, [](BIO* bio, const char* bytes, int size) {
      auto* stream = static_cast<TlsStream*>(BIO_get_data(bio));
      BIO_clear_retry_flags(bio);
      const ssize_t sent = send(stream->fd_, bytes, static_cast<std::size_t>(size), MSG_NOSIGNAL);
      if (sent < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_write(bio);
      return static_cast<int>(sent);
    });
    BIO_meth_set_ctrl(made, [](BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1L : 0L; });
    return made;
  }();
  return method;
}

}  // namespace pepe
