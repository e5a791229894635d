#pragma once

#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pepe {

/// A certificate and its key, made on the spot.
struct Identity {
  std::shared_ptr<X509> certificate;
  std::shared_ptr<EVP_PKEY> key;
};

struct IdentitySpec {
  std::string common_name{"pepe test"};
  std::string alt_names{};  ///< OpenSSL's form: "DNS:a.test,IP:127.0.0.1"; empty: none.
  std::string dns_name{};   ///< In place of alt_names: one name, of bytes that OpenSSL's form has no way to say.
  const Identity* issuer{nullptr};  ///< nullptr: signed by itself.
  long starts_in_s{-3600};
  long ends_in_s{3600};
  bool authority{false};
  unsigned rsa_bits{0};  ///< 0: a key of the curve P-256.
  std::string digest{"SHA256"};
  /// Further extensions: name and value in OpenSSL's form, such as {"extendedKeyUsage", "clientAuth"}.
  std::vector<std::pair<std::string, std::string>> extensions{};
};

Identity make_identity(const IdentitySpec& spec);

std::string certificate_pem(const Identity& identity);
/// Encrypted where there is a password.
std::string key_pem(const Identity& identity, const std::string& password = {});

/// The server's side of OpenSSL: a context with a chain, the server's own certificate first. It takes weak keys too.
std::shared_ptr<SSL_CTX> make_server_context(const std::vector<Identity>& chain);
inline std::shared_ptr<SSL_CTX> make_server_context(const Identity& identity) {
  return make_server_context(std::vector<Identity>{identity});
}
inline void send_text(SSL* ssl, std::string_view text) { SSL_write(ssl, text.data(), static_cast<int>(text.size())); }

}  // namespace pepe
