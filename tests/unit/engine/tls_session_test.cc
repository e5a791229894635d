#include "engine/tls_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <atomic>
#include <optional>
#include <string>

#include "unit/engine/tls_bench.h"

namespace pepe {
namespace {

using testing::HasSubstr;
using Status = TlsSession::Status;

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
      TlsClient client{*ctx, ends.client, host};
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
  TlsClient client{*ctx, ends.client, "a.test"};
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
  TlsClient client{*ctx, ends.client, "a.test"};
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
  TlsClient client{*ctx, ends.client, "a.test"};
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
                   end_tls(ssl);
                 }};
    TlsClient client{*ctx, ends.client, "a.test"};
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
  TlsClient client{*ctx, ends.client, "a.test"};
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
                   if (clean) end_tls(ssl);
                 }};
    TlsClient client{*ctx, ends.client, "a.test"};
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
  TlsClient client{*ctx, ends.client, "a.test"};
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
  TlsClient client{*ctx, ends.client, "a.test"};
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
    TlsClient client{*ctx, ends.client, "a.test"};
    ASSERT_EQ(client.handshake(), Status::kOk);
    EXPECT_EQ(client.read(), "");
    EXPECT_EQ(client.last(), Status::kError);
  }
  EXPECT_LE(renegotiated, 0);
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
        TlsClient client{*ctx, ends.client, "a.test", tickets ? &kept : nullptr};
        ASSERT_EQ(client.handshake(), Status::kOk) << client.session().error();
        EXPECT_EQ(client.read(1), "x");
      }
      EXPECT_EQ(resumed, tickets ? 3 : 0) << "version " << version;
    }
  }
}

}  // namespace
}  // namespace pepe
