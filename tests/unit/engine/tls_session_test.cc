#include "engine/tls_session.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <csignal>
#include <optional>
#include <string>
#include <vector>

#include "engine/tls_context.h"
#include "unit/engine/tls_peer.h"

namespace pepe {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using Status = TlsSession::Status;

const Identity& authority() {
  static const Identity made = make_identity({.common_name = "authority", .authority = true});
  return made;
}

struct Ends {
  int client{-1};
  int server{-1};
  Ends() {
    int fds[2] = {-1, -1};
    socketpair(AF_UNIX, SOCK_STREAM, 0, fds);
    client = fds[0];
    server = fds[1];
    fcntl(client, F_SETFL, O_NONBLOCK);
  }
  ~Ends() { close(client); }
};

/// A client that waits where a worker would go on with something else.
class Client {
 public:
  Client(const TlsContext& context, int fd, const std::string& host, TlsTickets* tickets = nullptr)
      : fd_{fd}, session_{context.make_session(fd, host, host, tickets)} {}

  Status handshake() {
    return settle([this] { return session_->handshake(); });
  }
  /// Everything up to the end, or up to `limit` bytes.
  std::string read(std::size_t limit = SIZE_MAX) {
    std::string text;
    char chunk[1000];
    last_ = settle([&] {
      for (;;) {
        const TlsSession::Count got = session_->read(chunk);
        text.append(chunk, got.bytes);
        if (got.status != Status::kOk || text.size() >= limit) return got.status;
      }
    });
    return text;
  }
  Status last() const { return last_; }
  Status write(std::string_view text) {
    return settle([&] {
      while (!text.empty()) {
        const TlsSession::Count sent = session_->write(text);
        if (sent.status != Status::kOk) return sent.status;
        text.remove_prefix(sent.bytes);
      }
      return Status::kOk;
    });
  }
  TlsSession& session() { return *session_; }
  void receive_at_most(std::size_t bytes) { chunk_ = bytes; }

 private:
  template <class Step>
  Status settle(Step step) {
    for (;;) {
      const Status status = step();
      if (status != Status::kWantRead && status != Status::kWantWrite) return status;
      pollfd wait{fd_, static_cast<short>(status == Status::kWantRead ? POLLIN : POLLOUT), 0};
      poll(&wait, 1, 10'000);
      if (status == Status::kWantWrite) continue;
      const ssize_t got = recv(fd_, buffer_, chunk_, 0);
      if (got > 0) session_->feed({buffer_, static_cast<std::size_t>(got)});
      if (got == 0) session_->feed_end();
    }
  }

  int fd_;
  std::unique_ptr<TlsSession> session_;
  Status last_{Status::kOk};
  std::size_t chunk_{sizeof buffer_};
  char buffer_[65536];
};

class TlsSessionTest : public testing::Test {
 protected:
  TlsSessionTest() {
    std::signal(SIGPIPE, SIG_IGN);  // OpenSSL's own socket BIO, on the server's side, raises it.
    roots_ = files_.write("ca.pem", certificate_pem(authority()));
  }

  TlsOptions trusting() const {
    TlsOptions options;
    options.root_cert_files = {roots_};
    return options;
  }
  TlsOptions insecure() const {
    TlsOptions options;
    options.insecure = true;
    return options;
  }
  std::unique_ptr<TlsContext> context(const TlsOptions& options) {
    auto made = TlsContext::make(options);
    EXPECT_TRUE(made) << made.error().text();
    return *std::move(made);
  }
  static Identity server_identity() {
    return make_identity({.alt_names = "DNS:a.test,IP:127.0.0.1", .issuer = &authority()});
  }

  TempFiles files_;
  std::string roots_;
};

void send_text(SSL* ssl, std::string_view text) { SSL_write(ssl, text.data(), static_cast<int>(text.size())); }
void end(SSL* ssl) { SSL_shutdown(ssl); }
/// Reads until the client hangs up.
std::string drain(SSL* ssl) {
  std::string text;
  char chunk[4096];
  for (int got = 1; got > 0;) {
    got = SSL_read(ssl, chunk, sizeof chunk);
    if (got > 0) text.append(chunk, static_cast<std::size_t>(got));
  }
  return text;
}

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
    Client client{*ctx, ends.client, row.host};
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

TEST_F(TlsSessionTest, NamesTheServerItWantsUnlessThatIsAnAddress) {
  const auto server = make_server_context(server_identity());
  const auto ctx = context(insecure());
  for (const auto& [host, expected] : {std::pair{"a.test", "a.test"}, {"127.0.0.1", "none"}, {"::1", "none"}}) {
    std::string seen;
    {
      Ends ends;
      TlsPeer peer{server.get(), ends.server, [&](SSL* ssl) {
                     const char* name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
                     seen = name == nullptr ? "none" : name;
                   }};
      Client client{*ctx, ends.client, host};
      EXPECT_EQ(client.handshake(), Status::kOk);
    }
    EXPECT_EQ(seen, expected) << host;
  }
}

TEST_F(TlsSessionTest, OffersHttp1Only) {
  const auto server = make_server_context(server_identity());
  std::string offered;
  SSL_CTX_set_alpn_select_cb(
      server.get(),
      [](SSL*, const unsigned char** out, unsigned char* size, const unsigned char* in, unsigned in_size, void* to) {
        static_cast<std::string*>(to)->assign(reinterpret_cast<const char*>(in), in_size);
        *out = in + 1;
        *size = in[0];
        return SSL_TLSEXT_ERR_OK;
      },
      &offered);
  const auto ctx = context(insecure());
  Ends ends;
  std::optional<TlsPeer> peer;
  peer.emplace(server.get(), ends.server, [](SSL*) {});
  Client client{*ctx, ends.client, "a.test"};
  EXPECT_EQ(client.handshake(), Status::kOk);
  EXPECT_FALSE(client.session().h2());
  peer.reset();
  EXPECT_EQ(offered, "\x08http/1.1");
}

TEST_F(TlsSessionTest, RefusesTls11) {
  const auto server = make_server_context(server_identity());
  SSL_CTX_set_security_level(server.get(), 0);
  SSL_CTX_set_min_proto_version(server.get(), TLS1_1_VERSION);
  SSL_CTX_set_max_proto_version(server.get(), TLS1_1_VERSION);
  const auto ctx = context(insecure());
  Ends ends;
  TlsPeer peer{server.get(), ends.server, [](SSL*) {}};
  Client client{*ctx, ends.client, "a.test"};
  EXPECT_EQ(client.handshake(), Status::kError);
  EXPECT_EQ(client.session().error(), "remote error: tls: protocol version not supported");
}

struct RawCase {
  const char* name;
  std::string_view answer;
  const char* error;
};
void PrintTo(const RawCase& row, std::ostream* out) { *out << row.name; }
class TlsRawPeers : public TlsSessionTest, public testing::WithParamInterface<RawCase> {};
TEST_P(TlsRawPeers, FailTheHandshake) {
  const auto ctx = context(insecure());
  Ends ends;
  EXPECT_EQ(write(ends.server, GetParam().answer.data(), GetParam().answer.size()),
            static_cast<ssize_t>(GetParam().answer.size()));
  ::shutdown(ends.server, SHUT_WR);
  Client client{*ctx, ends.client, "a.test"};
  EXPECT_EQ(client.handshake(), Status::kError);
  EXPECT_THAT(client.session().error(), HasSubstr(GetParam().error));
  close(ends.server);
}
constexpr std::string_view kAlert{"\x15\x03\x03\x00\x02\x02\x28", 7};
constexpr std::string_view kHugeRecord{"\x16\x03\x03\xff\xff\x02\x28", 7};
constexpr std::string_view kHalfRecord{"\x16\x03\x03\x00\x80\x02\x28", 7};
INSTANTIATE_TEST_SUITE_P(All, TlsRawPeers,
                         testing::Values(RawCase{"PlainHttp", "HTTP/1.1 400 Bad Request\r\n\r\n",
                                                 "http: server gave HTTP response to HTTPS client"},
                                         RawCase{"Noise", "\xde\xad\xbe\xef what is this?",
                                                 "tls: first record does not look like a TLS handshake"},
                                         RawCase{"Close", "", "EOF"}, RawCase{"CloseInARecord", kHalfRecord, "EOF"},
                                         RawCase{"Alert", kAlert, "remote error: tls: handshake failure"},
                                         RawCase{"HugeRecord", kHugeRecord, "tls: "}),
                         [](const auto& row) { return row.param.name; });

TEST_F(TlsSessionTest, ReadsManyRecordsFromOneFeedAndOneRecordFromManyFeeds) {
  const auto server = make_server_context(server_identity());
  const auto ctx = context(trusting());
  std::string sent;
  for (int i = 0; i < 300; ++i)
    sent += std::string(static_cast<std::size_t>(i) * 7 % 900, static_cast<char>('a' + i % 26));
  for (const std::size_t at_most : {std::size_t{65536}, std::size_t{100}, std::size_t{1}}) {
    Ends ends;
    TlsPeer peer{server.get(), ends.server, [&](SSL* ssl) {
                   for (std::size_t at = 0; at < sent.size(); at += 500)
                     send_text(ssl, std::string_view{sent}.substr(at, 500));
                   end(ssl);
                 }};
    Client client{*ctx, ends.client, "a.test"};
    ASSERT_EQ(client.handshake(), Status::kOk) << client.session().error();
    client.receive_at_most(at_most);
    EXPECT_EQ(client.read(), sent);
    EXPECT_EQ(client.last(), Status::kClosed);
  }
}

TEST_F(TlsSessionTest, WaitsForARoomySocketAndThenGoesOn) {
  const auto server = make_server_context(server_identity());
  const auto ctx = context(trusting());
  const std::string sent(3'000'000, 'x');
  std::atomic<bool> may_read{false};
  std::string got;
  Ends ends;
  std::optional<TlsPeer> peer;
  peer.emplace(server.get(), ends.server, [&](SSL* ssl) {
    may_read.wait(false);
    got = drain(ssl);
  });
  Client client{*ctx, ends.client, "a.test"};
  ASSERT_EQ(client.handshake(), Status::kOk);
  std::string_view rest = sent;
  TlsSession::Count count;
  while ((count = client.session().write(rest)).status == Status::kOk) rest.remove_prefix(count.bytes);
  EXPECT_EQ(count.status, Status::kWantWrite);
  EXPECT_EQ(count.bytes, 0U);
  may_read = true;
  may_read.notify_one();
  const std::string moved{rest};
  EXPECT_EQ(client.write(moved), Status::kOk);
  client.session().shutdown();
  peer.reset();
  EXPECT_EQ(got.size(), sent.size());
}

TEST_F(TlsSessionTest, TellsATruncationFromAnEnd) {
  const auto server = make_server_context(server_identity());
  const auto ctx = context(trusting());
  for (const bool clean : {true, false}) {
    Ends ends;
    TlsPeer peer{server.get(), ends.server, [clean](SSL* ssl) {
                   send_text(ssl, "hello");
                   if (clean) end(ssl);
                 }};
    Client client{*ctx, ends.client, "a.test"};
    ASSERT_EQ(client.handshake(), Status::kOk);
    EXPECT_EQ(client.read(), "hello");
    EXPECT_EQ(client.last(), clean ? Status::kClosed : Status::kError);
    EXPECT_EQ(client.session().error(), clean ? "" : "unexpected EOF");
  }
}

TEST_F(TlsSessionTest, ReportsACorruptRecord) {
  const auto server = make_server_context(server_identity());
  const auto ctx = context(trusting());
  Ends ends;
  TlsPeer peer{server.get(), ends.server, [&](SSL*) {
                 const std::string_view record{"\x17\x03\x03\x00\x20 0123456789abcdef0123456789abcde", 37};
                 EXPECT_EQ(write(ends.server, record.data(), record.size()), 37);
               }};
  Client client{*ctx, ends.client, "a.test"};
  ASSERT_EQ(client.handshake(), Status::kOk);
  EXPECT_EQ(client.read(), "");
  EXPECT_EQ(client.last(), Status::kError);
  EXPECT_EQ(client.session().error(), "local error: tls: bad record MAC");
}

TEST_F(TlsSessionTest, GoesOnThroughAKeyUpdate) {
  const auto server = make_server_context(server_identity());
  const auto ctx = context(trusting());
  std::string got;
  Ends ends;
  std::optional<TlsPeer> peer;
  peer.emplace(server.get(), ends.server, [&](SSL* ssl) {
    SSL_key_update(ssl, SSL_KEY_UPDATE_REQUESTED);
    send_text(ssl, "after");
    got = drain(ssl);
  });
  Client client{*ctx, ends.client, "a.test"};
  ASSERT_EQ(client.handshake(), Status::kOk);
  EXPECT_EQ(client.read(5), "after");
  EXPECT_EQ(client.write("mine"), Status::kOk);
  client.session().shutdown();
  peer.reset();
  EXPECT_EQ(got, "mine");
}

TEST_F(TlsSessionTest, RefusesARenegotiation) {
  const auto server = make_server_context(server_identity());
  SSL_CTX_set_max_proto_version(server.get(), TLS1_2_VERSION);
  const auto ctx = context(trusting());
  int renegotiated = 1;
  Ends ends;
  {
    TlsPeer peer{server.get(), ends.server, [&](SSL* ssl) {
                   SSL_renegotiate(ssl);
                   SSL_do_handshake(ssl);
                   char byte = 0;
                   renegotiated = SSL_read(ssl, &byte, 1);
                 }};
    Client client{*ctx, ends.client, "a.test"};
    ASSERT_EQ(client.handshake(), Status::kOk);
    EXPECT_EQ(client.read(), "");
    EXPECT_EQ(client.last(), Status::kError);
  }
  EXPECT_LE(renegotiated, 0);
}

TEST_F(TlsSessionTest, SaysThatTheServerWantsACertificate) {
  const auto server = make_server_context(server_identity());
  SSL_CTX_set_verify(server.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  const auto ctx = context(trusting());
  for (const bool by_writing : {false, true}) {
    Ends ends;
    std::optional<TlsPeer> peer;
    peer.emplace(server.get(), ends.server, [](SSL*) {});
    Client client{*ctx, ends.client, "a.test"};
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
    Client client{*ctx, ends.client, "a.test"};
    EXPECT_EQ(client.handshake(), Status::kOk);
  }
  EXPECT_EQ(seen, "load client");
}

TEST_F(TlsSessionTest, ResumesOnlyWithTickets) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    for (const bool tickets : {false, true}) {
      const auto server = make_server_context(server_identity());
      SSL_CTX_set_max_proto_version(server.get(), version);
      TlsOptions options = trusting();
      options.session_tickets = tickets;
      const auto ctx = context(options);
      TlsTickets kept;
      int resumed = 0;
      for (int i = 0; i < 4; ++i) {
        Ends ends;
        TlsPeer peer{server.get(), ends.server, [&](SSL* ssl) {
                       resumed += SSL_session_reused(ssl);
                       send_text(ssl, "x");
                     }};
        Client client{*ctx, ends.client, "a.test", tickets ? &kept : nullptr};
        ASSERT_EQ(client.handshake(), Status::kOk) << client.session().error();
        EXPECT_EQ(client.read(1), "x");
      }
      EXPECT_EQ(resumed, tickets ? 3 : 0) << "version " << version;
    }
  }
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
