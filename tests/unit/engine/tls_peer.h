#pragma once

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <utility>

#include "engine/tls_context.h"

namespace pepe {

/// A certificate and its key, made on the spot.
struct Identity {
  OpenSslPtr<X509> certificate;
  OpenSslPtr<EVP_PKEY> key;
};

struct IdentitySpec {
  std::string common_name{"pepe test"};
  std::string alt_names{};          ///< OpenSSL's form: "DNS:a.test,IP:127.0.0.1"; empty: none.
  const Identity* issuer{nullptr};  ///< nullptr: signed by itself.
  long starts_in_s{-3600};
  long ends_in_s{3600};
  bool authority{false};
};

inline void add_extension(X509* certificate, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

inline Identity make_identity(const IdentitySpec& spec) {
  Identity made{OpenSslPtr<X509>{X509_new()}, OpenSslPtr<EVP_PKEY>{EVP_EC_gen("P-256")}};
  static long serial = 1;
  X509* certificate = made.certificate.get();
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial++);
  X509_gmtime_adj(X509_getm_notBefore(certificate), spec.starts_in_s);
  X509_gmtime_adj(X509_getm_notAfter(certificate), spec.ends_in_s);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(spec.common_name.c_str()), -1, -1, 0);
  const Identity& issuer = spec.issuer == nullptr ? made : *spec.issuer;
  X509_set_issuer_name(certificate, X509_get_subject_name(issuer.certificate.get()));
  X509_set_pubkey(certificate, made.key.get());
  if (spec.authority) add_extension(certificate, NID_basic_constraints, "critical,CA:TRUE");
  if (!spec.alt_names.empty()) add_extension(certificate, NID_subject_alt_name, spec.alt_names);
  X509_sign(certificate, issuer.key.get(), EVP_sha256());
  return made;
}

inline std::string pem_of(const std::function<void(BIO*)>& write) {
  const OpenSslPtr<BIO> bio{BIO_new(BIO_s_mem())};
  write(bio.get());
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}
inline std::string certificate_pem(const Identity& identity) {
  return pem_of([&](BIO* bio) { PEM_write_bio_X509(bio, identity.certificate.get()); });
}
inline std::string key_pem(const Identity& identity, const char* password = nullptr) {
  return pem_of([&](BIO* bio) {
    PEM_write_bio_PKCS8PrivateKey(bio, identity.key.get(), password == nullptr ? nullptr : EVP_aes_256_cbc(), password,
                                  password == nullptr ? 0 : 4, nullptr, nullptr);
  });
}

/// A directory that goes away with everything in it.
class TempFiles {
 public:
  TempFiles() { std::filesystem::create_directories(dir_); }
  ~TempFiles() { std::filesystem::remove_all(dir_); }
  TempFiles(const TempFiles&) = delete;
  TempFiles& operator=(const TempFiles&) = delete;
  std::string path(const std::string& name) const { return dir_ + "/" + name; }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream{path(name), std::ios::binary} << text;
    return path(name);
  }

 private:
  const std::string dir_ = (std::filesystem::temp_directory_path() / ("pepe_tls_" + std::to_string(getpid()))).string();
};

/// The server's side of OpenSSL: a context with one certificate.
inline OpenSslPtr<SSL_CTX> make_server_context(const Identity& identity) {
  OpenSslPtr<SSL_CTX> ctx{SSL_CTX_new(TLS_server_method())};
  SSL_CTX_use_certificate(ctx.get(), identity.certificate.get());
  SSL_CTX_use_PrivateKey(ctx.get(), identity.key.get());
  return ctx;
}

/// A server on a thread of its own, which talks over `fd` by blocking calls and closes it.
class TlsPeer {
 public:
  /// `talk` runs after the handshake, also after one that failed.
  TlsPeer(SSL_CTX* ctx, int fd, std::function<void(SSL*)> talk)
      : thread_{[ctx, fd, talk = std::move(talk)] {
          const OpenSslPtr<SSL> ssl{SSL_new(ctx)};
          SSL_set_fd(ssl.get(), fd);
          SSL_accept(ssl.get());
          talk(ssl.get());
          close(fd);
          ERR_clear_error();
        }} {}
  ~TlsPeer() { thread_.join(); }

 private:
  std::thread thread_;
};

}  // namespace pepe
