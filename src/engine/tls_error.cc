#include "engine/tls_error.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <string_view>
#include <vector>

#include "engine/asio.h"

namespace pepe {
namespace {

// A certificate may name thousands of hosts; an error text names this many.
constexpr std::size_t kMaxNames = 20;

struct Alert {
  int code;
  std::string_view text;
};
constexpr Alert kAlerts[] = {
    {0, "close notify"},
    {10, "unexpected message"},
    {20, "bad record MAC"},
    {21, "decryption failed"},
    {22, "record overflow"},
    {30, "decompression failure"},
    {40, "handshake failure"},
    {42, "bad certificate"},
    {43, "unsupported certificate"},
    {44, "revoked certificate"},
    {45, "expired certificate"},
    {46, "unknown certificate"},
    {47, "illegal parameter"},
    {48, "unknown certificate authority"},
    {49, "access denied"},
    {50, "error decoding message"},
    {51, "error decrypting message"},
    {60, "export restriction"},
    {70, "protocol version not supported"},
    {71, "insufficient security level"},
    {80, "internal error"},
    {86, "inappropriate fallback"},
    {90, "user canceled"},
    {100, "no renegotiation"},
    {109, "missing extension"},
    {110, "unsupported extension"},
    {111, "certificate unobtainable"},
    {112, "unrecognized name"},
    {113, "bad certificate status response"},
    {114, "bad certificate hash value"},
    {115, "unknown PSK identity"},
    {116, "certificate required"},
    {120, "no application protocol"},
};

struct SubjectNames {
  std::vector<std::string> hosts;
  std::vector<std::string> addresses;
};

std::string format_address(const ASN1_OCTET_STRING& octets) {
  const unsigned char* bytes = ASN1_STRING_get0_data(&octets);
  const auto size = static_cast<std::size_t>(ASN1_STRING_length(&octets));
  if (size == 4) {
    asio::ip::address_v4::bytes_type v4;
    std::copy_n(bytes, size, v4.begin());
    return asio::ip::address_v4{v4}.to_string();
  }
  if (size == 16) {
    asio::ip::address_v6::bytes_type v6;
    std::copy_n(bytes, size, v6.begin());
    return asio::ip::address_v6{v6}.to_string();
  }
  return "?";
}

SubjectNames subject_names(X509* certificate) {
  SubjectNames names;
  auto* all = static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; i < sk_GENERAL_NAME_num(all); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(all, i);
    if (name->type == GEN_DNS) {
      const auto* text = reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.dNSName));
      names.hosts.emplace_back(text, static_cast<std::size_t>(ASN1_STRING_length(name->d.dNSName)));
    } else if (name->type == GEN_IPADD) {
      names.addresses.push_back(format_address(*name->d.iPAddress));
    }
  }
  GENERAL_NAMES_free(all);
  return names;
}

std::string wrong_name(X509* certificate, const std::string& host, bool is_address) {
  const SubjectNames names = certificate == nullptr ? SubjectNames{} : subject_names(certificate);
  const std::vector<std::string>& valid = is_address ? names.addresses : names.hosts;
  if (valid.empty()) {
    return is_address ? "cannot validate certificate for " + host + " because it doesn't contain any IP SANs"
                      : "certificate is not valid for any names, but wanted to match " + host;
  }
  std::string text = "certificate is valid for ";
  for (std::size_t i = 0; i < std::min(valid.size(), kMaxNames); ++i) text += (i == 0 ? "" : ", ") + valid[i];
  if (valid.size() > kMaxNames) text += " and " + std::to_string(valid.size() - kMaxNames) + " more";
  return text + ", not " + host;
}

std::string format_time(const ASN1_TIME* time) {
  std::tm utc{};
  if (time == nullptr || ASN1_TIME_to_tm(time, &utc) != 1) return "an unknown time";
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc)};
}

}  // namespace

std::string certificate_error(X509_STORE_CTX* store, const std::string& host) {
  X509* certificate = X509_STORE_CTX_get_current_cert(store);
  const int code = X509_STORE_CTX_get_error(store);
  switch (code) {
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_UNTRUSTED: return "x509: certificate signed by unknown authority";
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return "x509: certificate has expired or is not yet valid: it ended at " +
             format_time(certificate == nullptr ? nullptr : X509_get0_notAfter(certificate));
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return "x509: certificate has expired or is not yet valid: it starts at " +
             format_time(certificate == nullptr ? nullptr : X509_get0_notBefore(certificate));
    case X509_V_ERR_HOSTNAME_MISMATCH: return "x509: " + wrong_name(certificate, host, false);
    case X509_V_ERR_IP_ADDRESS_MISMATCH: return "x509: " + wrong_name(certificate, host, true);
    default: return std::string{"x509: "} + X509_verify_cert_error_string(code);
  }
}

std::string alert_error(int code) {
  const auto* found =
      std::find_if(std::begin(kAlerts), std::end(kAlerts), [code](const Alert& alert) { return alert.code == code; });
  if (found == std::end(kAlerts)) return "remote error: tls: alert(" + std::to_string(code) + ")";
  return "remote error: tls: " + std::string{found->text};
}

std::string library_error(unsigned long code) {
  const int reason = ERR_GET_REASON(code);
  if (ERR_GET_LIB(code) == ERR_LIB_SSL) {
    if (reason >= SSL_AD_REASON_OFFSET) return alert_error(reason - SSL_AD_REASON_OFFSET);
    switch (reason) {
      case SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC: return "local error: tls: bad record MAC";
      case SSL_R_NO_RENEGOTIATION: return "local error: tls: no renegotiation";
      case SSL_R_UNSUPPORTED_PROTOCOL: return "tls: server selected unsupported protocol version";
      default: break;
    }
  }
  const char* text = ERR_reason_error_string(code);
  return std::string{"tls: "} + (text == nullptr ? "unknown error" : text);
}

}  // namespace pepe
