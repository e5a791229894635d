#include "support/certificates.h"

#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>

#include <cstdlib>
#include <functional>

namespace pepe {
namespace {

void add_extension(X509* certificate, const std::string& name, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf(nullptr, &context, name.c_str(), value.c_str());
  if (extension == nullptr) std::abort();
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

void add_dns_name(X509* certificate, const std::string& name) {
  const std::shared_ptr<GENERAL_NAMES> names{GENERAL_NAMES_new(), GENERAL_NAMES_free};
  GENERAL_NAME* entry = GENERAL_NAME_new();
  ASN1_IA5STRING* value = ASN1_IA5STRING_new();
  ASN1_STRING_set(value, name.data(), static_cast<int>(name.size()));
  GENERAL_NAME_set0_value(entry, GEN_DNS, value);
  sk_GENERAL_NAME_push(names.get(), entry);
  if (X509_add1_ext_i2d(certificate, NID_subject_alt_name, names.get(), 0, X509V3_ADD_DEFAULT) != 1) std::abort();
}

std::string pem_of(const std::function<void(BIO*)>& write) {
  BIO* bio = BIO_new(BIO_s_mem());
  write(bio);
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio, &bytes);
  const std::string text{bytes, static_cast<std::size_t>(size)};
  BIO_free(bio);
  return text;
}

}  // namespace

Identity make_identity(const IdentitySpec& spec) {
  static long serial = 1;
  EVP_PKEY* key = spec.rsa_bits == 0 ? EVP_EC_gen("P-256") : EVP_RSA_gen(spec.rsa_bits);
  const Identity made{{X509_new(), X509_free}, {key, EVP_PKEY_free}};
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
  if (spec.authority) add_extension(certificate, "basicConstraints", "critical,CA:TRUE");
  if (!spec.alt_names.empty()) add_extension(certificate, "subjectAltName", spec.alt_names);
  if (!spec.dns_name.empty()) add_dns_name(certificate, spec.dns_name);
  for (const auto& [name, value] : spec.extensions) add_extension(certificate, name, value);
  if (X509_sign(certificate, issuer.key.get(), EVP_get_digestbyname(spec.digest.c_str())) == 0) std::abort();
  return made;
}

std::string certificate_pem(const Identity& identity) {
  return pem_of([&](BIO* bio) { PEM_write_bio_X509(bio, identity.certificate.get()); });
}

std::string key_pem(const Identity& identity, const std::string& password) {
  const bool locked = !password.empty();
  return pem_of([&](BIO* bio) {
    PEM_write_bio_PKCS8PrivateKey(bio, identity.key.get(), locked ? EVP_aes_256_cbc() : nullptr,
                                  locked ? password.c_str() : nullptr, static_cast<int>(password.size()), nullptr,
                                  nullptr);
  });
}

std::shared_ptr<SSL_CTX> make_server_context(const std::vector<Identity>& chain) {
  std::shared_ptr<SSL_CTX> context{SSL_CTX_new(TLS_server_method()), SSL_CTX_free};
  SSL_CTX_set_security_level(context.get(), 0);
  SSL_CTX_use_certificate(context.get(), chain.front().certificate.get());
  SSL_CTX_use_PrivateKey(context.get(), chain.front().key.get());
  // The signatures of TLS 1.3 do not fit into a key of 512 bits.
  if (EVP_PKEY_get_bits(chain.front().key.get()) == 512) SSL_CTX_set_max_proto_version(context.get(), TLS1_2_VERSION);
  for (std::size_t i = 1; i < chain.size(); ++i) SSL_CTX_add1_chain_cert(context.get(), chain[i].certificate.get());
  return context;
}

}  // namespace pepe
