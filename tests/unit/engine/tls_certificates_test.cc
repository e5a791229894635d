#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <ostream>
#include <string>

#include "unit/engine/tls_bench.h"

namespace pepe {
namespace {

using testing::StartsWith;
using Status = TlsSession::Status;

struct CertificateCase {
  const char* name;
  const char* host;
  const char* alt_names;
  const char* common_name;
  bool trusted;
  long starts_in_s;
  long ends_in_s;
  const char* error;  ///< "": accepted.
};
void PrintTo(const CertificateCase& row, std::ostream* out) { *out << row.name; }

constexpr const char* kUnknown = "tls: failed to verify certificate: x509: certificate signed by unknown authority";
constexpr CertificateCase kCertificateCases[] = {
    {"Name", "a.test", "DNS:b.test,DNS:a.test", "x", true, -9, 999, ""},
    {"NameWithDot", "a.test.", "DNS:a.test", "x", true, -9, 999, ""},
    {"Wildcard", "x.a.test", "DNS:*.a.test", "x", true, -9, 999, ""},
    {"V4", "127.0.0.1", "IP:127.0.0.1", "x", true, -9, 999, ""},
    {"V6", "::1", "IP:::1", "x", true, -9, 999, ""},
    {"EmptyHostIsLocalhost", "", "DNS:localhost", "x", true, -9, 999, ""},
    {"UnknownAuthority", "a.test", "DNS:a.test", "x", false, -9, 999, kUnknown},
    {"Expired", "a.test", "DNS:a.test", "x", true, -99, -9,
     "tls: failed to verify certificate: x509: certificate has expired or is not yet valid: it ended at 2"},
    {"NotYet", "a.test", "DNS:a.test", "x", true, 500, 999,
     "tls: failed to verify certificate: x509: certificate has expired or is not yet valid: it starts at 2"},
    {"WrongName", "a.test", "DNS:b.test,DNS:c.test", "x", true, -9, 999,
     "tls: failed to verify certificate: x509: certificate is valid for b.test, c.test, not a.test"},
    {"WildcardIsOneLabel", "x.y.a.test", "DNS:*.a.test", "x", true, -9, 999,
     "tls: failed to verify certificate: x509: certificate is valid for *.a.test, not x.y.a.test"},
    {"CommonNameIsNoName", "a.test", "", "a.test", true, -9, 999,
     "tls: failed to verify certificate: x509: certificate is not valid for any names, but wanted to match "
     "a.test"},
    {"WrongAddress", "127.0.0.1", "IP:127.0.0.2,IP:::1", "x", true, -9, 999,
     "tls: failed to verify certificate: x509: certificate is valid for 127.0.0.2, ::1, not 127.0.0.1"},
    {"AddressNeedsAnAddress", "127.0.0.1", "DNS:127.0.0.1", "x", true, -9, 999,
     "tls: failed to verify certificate: x509: cannot validate certificate for 127.0.0.1 because it doesn't "
     "contain any "
     "IP SANs"},
};

class TlsCertificates : public TlsSessionTest, public testing::WithParamInterface<CertificateCase> {};

TEST_P(TlsCertificates, AreJudged) {
  const CertificateCase& row = GetParam();
  const Identity identity = make_identity({.common_name = row.common_name,
                                           .alt_names = row.alt_names,
                                           .issuer = row.trusted ? &authority() : nullptr,
                                           .starts_in_s = row.starts_in_s,
                                           .ends_in_s = row.ends_in_s});
  const auto server = make_server_context(identity);
  for (const bool checked : {true, false}) {
    SCOPED_TRACE(checked ? "checked" : "insecure");
    const auto ctx = context(checked ? trusting() : insecure());
    Ends ends;
    TlsPeer peer{server.get(), ends.server, [](SSL*) {}};
    TlsClient client{*ctx, ends.client, row.host};
    const Status status = client.handshake();
    if (checked && row.error[0] != '\0') {
      EXPECT_EQ(status, Status::kError);
      EXPECT_THAT(client.session().error(), StartsWith(row.error));
    } else {
      EXPECT_EQ(status, Status::kOk) << client.session().error();
    }
  }
}
INSTANTIATE_TEST_SUITE_P(All, TlsCertificates, testing::ValuesIn(kCertificateCases),
                         [](const auto& row) { return row.param.name; });

TEST_F(TlsSessionTest, SaysThatTheServerWantsACertificate) {
  const auto server = make_server_context(server_identity());
  SSL_CTX_set_verify(server.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  const auto ctx = context(trusting());
  for (const bool by_writing : {false, true}) {
    Ends ends;
    std::optional<TlsPeer> peer;
    peer.emplace(server.get(), ends.server, [](SSL*) {});
    TlsClient client{*ctx, ends.client, "a.test"};
    ASSERT_EQ(client.handshake(), Status::kOk);
    if (by_writing) {
      peer.reset();  // Hung up: sending fails, and the alert is still there to be read.
      EXPECT_EQ(client.write("GET / HTTP/1.1\r\n\r\n"), Status::kError);
      EXPECT_THAT(client.session().error(), StartsWith("write "));
    }
    EXPECT_EQ(client.read(), "");
    EXPECT_EQ(client.session().error(), "remote error: tls: certificate required");
  }
}

TEST_F(TlsSessionTest, ShowsItsCertificate) {
  const Identity mine = make_identity({.common_name = "load client", .issuer = &authority()});
  TlsOptions options = trusting();
  options.cert_file = files_.write("both.pem", key_pem(mine) + certificate_pem(mine));
  const auto ctx = context(options);
  const auto server = make_server_context(server_identity());
  SSL_CTX_set_verify(server.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  X509_STORE_add_cert(SSL_CTX_get_cert_store(server.get()), authority().certificate.get());
  std::string seen;
  {
    Ends ends;
    TlsPeer peer{server.get(), ends.server, [&](SSL* ssl) {
                   char name[100] = "";
                   if (X509* certificate = SSL_get0_peer_certificate(ssl)) {
                     X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name, sizeof name);
                   }
                   seen = name;
                 }};
    TlsClient client{*ctx, ends.client, "a.test"};
    EXPECT_EQ(client.handshake(), Status::kOk);
  }
  EXPECT_EQ(seen, "load client");
}

class TlsContextTest : public TlsSessionTest {};

TEST_F(TlsContextTest, RefusesFilesThatAreNoUse) {
  const Identity mine = make_identity({});
  const Identity other = make_identity({});
  const std::string certificate = files_.write("mine.pem", certificate_pem(mine));
  const std::string key = files_.write("mine.key", key_pem(mine));
  const std::string other_key = files_.write("other.key", key_pem(other));
  const std::string locked = files_.write("locked.key", key_pem(mine, "word"));
  const std::string garbage = files_.write("garbage.pem", "no certificate\n");
  const std::string missing = files_.path("missing.pem");
  struct FileCase {
    const char* name;
    std::string root, cert, key;
    std::string error;
  };
  const FileCase cases[] = {
      {"MissingRoot", missing, "", "", "open " + missing + ": no such file or directory"},
      {"GarbageRoot", garbage, "", "", "bad certificate: none in " + garbage},
      {"MissingCertificate", "", missing, key, "open " + missing + ": no such file or directory"},
      {"GarbageCertificate", "", garbage, key, "tls: no certificate in " + garbage},
      {"MissingKey", "", certificate, missing, "open " + missing + ": no such file or directory"},
      {"NoKeyBesideCertificate", "", certificate, "", "tls: no private key in " + certificate},
      {"KeyOfAnother", "", certificate, other_key, "tls: private key does not match public key: " + other_key},
      {"LockedKey", "", certificate, locked, "tls: the private key in " + locked + " is encrypted"},
      {"KeyAloneMustExist", "", "", missing, "open " + missing + ": no such file or directory"},
      {"KeyAlone", "", "", garbage, ""},
      {"Both", "", certificate, key, ""},
  };
  for (const FileCase& row : cases) {
    TlsOptions options;
    if (!row.root.empty()) options.root_cert_files = {roots_, row.root};
    options.cert_file = row.cert;
    options.key_file = row.key;
    const auto made = TlsContext::make(options);
    EXPECT_EQ(made ? "" : made.error().text(), row.error) << row.name;
  }
}

}  // namespace
}  // namespace pepe
