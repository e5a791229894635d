// What certificates of servers and clients come to, from outside: over HTTP/1.1 and HTTP/2, directly, through a proxy
// and behind a redirect. No name is looked up: -connect-to leads all of them to 127.0.0.1.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "e2e/pepe_binary.h"
#include "support/certificates.h"
#include "support/connect_proxy.h"
#include "support/temp_dir.h"
#include "support/test_server.h"
#include "support/tls_server.h"

namespace pepe {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::string_literals;

constexpr const char* kUnknown = "certificate signed by unknown authority";

/// What signs the certificates below. `root` is what pepe trusts.
struct Authorities {
  Identity root = make_identity({.common_name = "root", .authority = true});
  Identity other = make_identity({.common_name = "another root", .authority = true});
  Identity link = make_identity({.common_name = "link", .issuer = &root, .authority = true});
  Identity rsa_link = make_identity({.common_name = "RSA link", .issuer = &root, .authority = true, .rsa_bits = 2048});
  Identity expired = make_identity({.common_name = "expired", .issuer = &root, .ends_in_s = -9, .authority = true});
  Identity no_authority =
      make_identity({.common_name = "none", .issuer = &root, .extensions = {{"basicConstraints", "CA:FALSE"}}});
  Identity short_link = make_identity(
      {.common_name = "short", .issuer = &root, .extensions = {{"basicConstraints", "critical,CA:TRUE,pathlen:0"}}});
  Identity below_short = make_identity({.common_name = "below", .issuer = &short_link, .authority = true});
  Identity for_others = make_identity({.common_name = "for others",
                                       .issuer = &root,
                                       .authority = true,
                                       .extensions = {{"nameConstraints", "critical,permitted;DNS:b.test"}}});
  Identity not_for_a = make_identity({.common_name = "not for a",
                                      .issuer = &root,
                                      .authority = true,
                                      .extensions = {{"nameConstraints", "critical,excluded;DNS:a.test"}}});
  Identity no_signer = make_identity({.common_name = "no signer",
                                      .issuer = &root,
                                      .authority = true,
                                      .extensions = {{"keyUsage", "digitalSignature"}}});
};

const Authorities& authorities() {
  static const Authorities made;
  return made;
}

struct CertificateCase {
  const char* name;
  const char* host;
  IdentitySpec spec;
  std::vector<Identity> links;  ///< What the server sends behind its own.
  const char* error;            ///< What x509 has to say; "": nothing.
};

IdentitySpec by_root(const char* names) { return {.alt_names = names, .issuer = &authorities().root}; }
IdentitySpec below(const Identity& issuer) { return {.alt_names = "DNS:a.test", .issuer = &issuer}; }

std::vector<CertificateCase> cases_of_names() {
  const Authorities& by = authorities();
  const auto named = [&by](const char* common_name) {
    return IdentitySpec{.common_name = common_name, .issuer = &by.root};
  };
  return {
      {"Good", "a.test", by_root("DNS:b.test,DNS:a.test"), {}, ""},
      {"GoodInCapitals", "A.test", by_root("DNS:a.TEST"), {}, ""},
      {"GoodAddress", "127.0.0.1", by_root("IP:127.0.0.1"), {}, ""},
      {"GoodWildcard", "b.a.test", by_root("DNS:*.a.test"), {}, ""},
      {"WrongName", "a.test", by_root("DNS:b.test"), {}, "certificate is valid for b.test, not a.test"},
      {"NameAsSuffix", "xa.test", by_root("DNS:a.test"), {}, "certificate is valid for a.test, not xa.test"},
      {"NulInTheName",
       "a.test",
       {.dns_name = "a.test\0.b.test"s, .issuer = &by.root},
       {},
       "certificate is valid for a.test\\u0000.b.test, not a.test"},
      {"WrongAddress", "127.0.0.1", by_root("IP:127.0.0.2"), {}, "certificate is valid for 127.0.0.2, not 127.0.0.1"},
      {"AddressAsName", "127.0.0.1", by_root("DNS:127.0.0.1"), {}, "because it doesn't contain any IP SANs"},
      {"AddressAsCommonName", "127.0.0.1", named("127.0.0.1"), {}, "because it doesn't contain any IP SANs"},
      {"NameAsCommonName",
       "a.test",
       named("a.test"),
       {},
       "certificate is not valid for any names, but wanted to match a.test"},
      {"WildcardOfOneLabel",
       "c.b.a.test",
       by_root("DNS:*.a.test"),
       {},
       "certificate is valid for *.a.test, not c.b.a.test"},
      {"WildcardNotOfNone", "a.test", by_root("DNS:*.a.test"), {}, "certificate is valid for *.a.test, not a.test"},
      {"PartOfAWildcard",
       "ba.a.test",
       by_root("DNS:b*.a.test"),
       {},
       "certificate is valid for b*.a.test, not ba.a.test"},
      {"WildcardInside",
       "x.b.a.test",
       by_root("DNS:x.*.a.test"),
       {},
       "certificate is valid for x.*.a.test, not x.b.a.test"},
      {"WildcardOfAddresses", "127.0.0.1", by_root("DNS:*.0.0.1"), {}, "because it doesn't contain any IP SANs"},
  };
}

std::vector<CertificateCase> cases_of_chains() {
  const Authorities& by = authorities();
  return {
      {"GoodThroughALink", "a.test", below(by.link), {by.link}, ""},
      {"GoodWithTheRootSentToo", "a.test", by_root("DNS:a.test"), {by.root}, ""},
      {"SignedByItself", "a.test", {.alt_names = "DNS:a.test"}, {}, kUnknown},
      {"UnknownAuthority", "a.test", below(by.other), {}, kUnknown},
      {"UnknownAuthoritySentToo", "a.test", below(by.other), {by.other}, kUnknown},
      {"MissingLink", "a.test", below(by.link), {}, kUnknown},
      {"LinkThatIsNoAuthority", "a.test", below(by.no_authority), {by.no_authority}, "invalid CA certificate"},
      {"LinkThatMayNotSign", "a.test", below(by.no_signer), {by.no_signer}, "invalid CA certificate"},
      {"LinkThatExpired", "a.test", below(by.expired), {by.expired}, "has expired or is not yet valid: it ended at 2"},
      {"ChainTooLong",
       "a.test",
       below(by.below_short),
       {by.below_short, by.short_link},
       "path length constraint exceeded"},
      {"NameNotPermitted", "a.test", below(by.for_others), {by.for_others}, "permitted subtree violation"},
      {"NameExcluded", "a.test", below(by.not_for_a), {by.not_for_a}, "excluded subtree violation"},
  };
}

/// Of what one certificate itself is like: its dates, uses, extensions, key and signature.
std::vector<CertificateCase> cases_of_keys() {
  const Authorities& by = authorities();
  const auto dated = [&by](long from, long to) {
    return IdentitySpec{.alt_names = "DNS:a.test", .issuer = &by.root, .starts_in_s = from, .ends_in_s = to};
  };
  const auto of_bits = [&by](unsigned rsa_bits) {
    return IdentitySpec{.alt_names = "DNS:a.test", .issuer = &by.root, .rsa_bits = rsa_bits};
  };
  const auto with = [&by](const char* name, const char* value) {
    return IdentitySpec{.alt_names = "DNS:a.test", .issuer = &by.root, .extensions = {{name, value}}};
  };
  const auto signed_with = [&by](const char* digest) {
    return IdentitySpec{.alt_names = "DNS:a.test", .issuer = &by.rsa_link, .digest = digest};
  };
  return {
      {"GoodRsa", "a.test", of_bits(2048), {}, ""},
      {"GoodUsage", "a.test", with("extendedKeyUsage", "clientAuth,serverAuth"), {}, ""},
      {"Expired", "a.test", dated(-99, -9), {}, "certificate has expired or is not yet valid: it ended at 2"},
      {"NotYetValid", "a.test", dated(500, 999), {}, "certificate has expired or is not yet valid: it starts at 2"},
      {"ForClientsOnly", "a.test", with("extendedKeyUsage", "clientAuth"), {}, "unsuitable certificate purpose"},
      {"UnknownCriticalExtension", "a.test", with("1.2.3.4", "critical,DER:0500"), {}, "unhandled critical extension"},
      {"Sha1", "a.test", signed_with("SHA1"), {by.rsa_link}, "CA signature digest algorithm too weak"},
      {"Md5", "a.test", signed_with("MD5"), {by.rsa_link}, "CA signature digest algorithm too weak"},
      {"Rsa1024", "a.test", of_bits(1024), {}, "EE certificate key too weak"},
      {"Rsa512", "a.test", of_bits(512), {}, "EE certificate key too weak"},
  };
}

/// A good one comes first.
std::vector<CertificateCase> certificate_cases() {
  std::vector<CertificateCase> all = cases_of_names();
  for (auto* more : {cases_of_chains, cases_of_keys}) {
    const std::vector<CertificateCase> cases = more();
    all.insert(all.end(), cases.begin(), cases.end());
  }
  return all;
}

/// The results of an attack as lines of JSON, by hit number.
std::vector<std::string> results_of(const std::vector<std::string>& args, std::size_t hits,
                                    const std::vector<std::string>& environment = {}) {
  Launch launch;
  launch.args = {"attack", "-encoding=json", "-rate=1000", "-duration=" + std::to_string(hits) + "ms"};
  launch.args.insert(launch.args.end(), args.begin(), args.end());
  launch.environment = environment;
  const Ended ended = Process{kPepe, launch}.wait();
  EXPECT_EQ(ended.status, 0) << ended.err;
  std::vector<std::string> results(hits);
  for (std::string rest = ended.out; !rest.empty(); rest.erase(0, rest.find('\n') + 1)) {
    const std::string line = rest.substr(0, rest.find('\n'));
    const std::string key = "\"seq\":";
    results.at(std::stoul(line.substr(line.find(key) + key.size()))) = line;
  }
  return results;
}

/// HTTPS servers, one for each certificate, and the flags that lead to them.
struct Servers {
  Servers(const std::vector<CertificateCase>& cases, bool http2) {
    for (const CertificateCase& row : cases) {
      std::vector<Identity> chain{make_identity(row.spec)};
      chain.insert(chain.end(), row.links.begin(), row.links.end());
      servers.push_back(std::make_unique<TlsServer>(TlsServerOptions{.chain = chain, .http2 = http2}));
      const std::string port = std::to_string(servers.back()->port());
      flags.push_back("-connect-to=" + std::string{row.host} + ":" + port + ":127.0.0.1:" + port);
      urls.push_back("https://" + std::string{row.host} + ":" + port + "/");
    }
  }
  std::vector<std::unique_ptr<TlsServer>> servers;
  std::vector<std::string> flags;
  std::vector<std::string> urls;
};

class Certificates : public testing::Test {
 protected:
  std::vector<std::string> attack(const Servers& servers, const std::string& flag,
                                  const std::vector<std::string>& environment = {}) const {
    std::vector<std::string> args = servers.flags;
    args.push_back(flag);
    args.insert(args.end(), servers.urls.begin(), servers.urls.end());
    return results_of(args, servers.urls.size(), environment);
  }

  TempDir dir_;
  const std::string trusting_ = "-root-certs=" + dir_.write("root.pem", certificate_pem(authorities().root));
};

TEST_F(Certificates, AreVerifiedOverEitherProtocol) {
  const auto cases = certificate_cases();
  for (const bool http2 : {false, true}) {
    SCOPED_TRACE(http2 ? "HTTP/2" : "HTTP/1.1");
    const Servers servers{cases, http2};
    const auto checked = attack(servers, trusting_);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      SCOPED_TRACE(cases[i].name);
      const bool good = cases[i].error[0] == '\0';
      EXPECT_EQ(servers.servers[i]->requests().size(), good ? 1U : 0U);
      EXPECT_THAT(checked[i], HasSubstr(good ? "\"code\":200," : "\"code\":0,"));
      if (!good) {
        EXPECT_THAT(checked[i], HasSubstr(": tls: failed to verify certificate: x509: "));
      }
      EXPECT_THAT(checked[i], HasSubstr(cases[i].error));
    }
    const auto unchecked = attack(servers, "-insecure");
    for (std::size_t i = 0; i < cases.size(); ++i) {
      SCOPED_TRACE(cases[i].name);
      EXPECT_THAT(unchecked[i], HasSubstr("\"code\":200,"));
    }
  }
}

TEST_F(Certificates, AreVerifiedThroughAProxy) {
  const auto cases = certificate_cases();
  std::vector<CertificateCase> proxied;
  for (const CertificateCase& row : cases) {
    for (const char* name : {"Good", "Expired", "WrongName", "SignedByItself"})
      if (row.name == std::string{name}) proxied.push_back(row);
  }
  const Servers servers{proxied, false};
  const ConnectProxy proxy;
  const auto results = attack(servers, trusting_, {"HTTPS_PROXY=http://127.0.0.1:" + std::to_string(proxy.port())});
  ASSERT_EQ(proxied.size(), 4U);
  EXPECT_EQ(proxy.requests().size(), 4U);
  for (std::size_t i = 0; i < proxied.size(); ++i) {
    SCOPED_TRACE(proxied[i].name);
    EXPECT_THAT(results[i], HasSubstr(i == 0 ? "\"code\":200," : "\"code\":0,"));
    EXPECT_THAT(results[i], HasSubstr(proxied[i].error));
  }
}

TEST_F(Certificates, AreVerifiedBehindARedirect) {
  const Servers servers{{certificate_cases()[0], {"Bad", "b.test", {.alt_names = "DNS:b.test"}, {}, kUnknown}}, false};
  const TestServer first{[&](const TestRequest& request) {
    const std::string& to = servers.urls[request.target == "/bad" ? 1 : 0];
    return TestAnswer{.status = 302, .reason = "Found", .headers = {"Location: " + to}};
  }};
  std::vector<std::string> args = servers.flags;
  for (const std::string& arg : {trusting_, first.url("/good"), first.url("/bad")}) args.push_back(arg);
  const auto results = results_of(args, 2);
  EXPECT_THAT(results[0], HasSubstr("\"code\":200,"));
  EXPECT_THAT(results[1], HasSubstr("\"code\":0,"));
  EXPECT_THAT(results[1], HasSubstr(std::string{"x509: "} + kUnknown));
  EXPECT_THAT(servers.servers[1]->requests(), IsEmpty());
}

struct ClientCase {
  const char* name;
  std::optional<IdentitySpec> spec;  ///< Of the client's certificate.
  const char* error;                 ///< Of the hit; "": none.
};

TEST_F(Certificates, OfClientsAreShownAndTheAnswerIsTheResult) {
  const Authorities& by = authorities();
  const TlsServer server{
      {.chain = {make_identity({.alt_names = "DNS:a.test", .issuer = &by.root})}, .client_authority = &by.other}};
  const std::string port = std::to_string(server.port());
  const ClientCase cases[] = {
      {"None", std::nullopt, "tls: certificate required"},
      {"Good", IdentitySpec{.common_name = "client", .issuer = &by.other}, ""},
      {"OfAnotherAuthority", IdentitySpec{.common_name = "client", .issuer = &by.link},
       "tls: unknown certificate authority"},
      {"Expired", IdentitySpec{.common_name = "client", .issuer = &by.other, .ends_in_s = -9},
       "tls: expired certificate"},
      {"ForServersOnly",
       IdentitySpec{.common_name = "client", .issuer = &by.other, .extensions = {{"extendedKeyUsage", "serverAuth"}}},
       "tls: unsupported certificate"},
  };
  for (const ClientCase& row : cases) {
    SCOPED_TRACE(row.name);
    std::vector<std::string> args{trusting_, "-connect-to=a.test:" + port + ":127.0.0.1:" + port};
    if (row.spec) {
      const Identity client = make_identity(*row.spec);
      args.push_back("-cert=" + dir_.write("client.pem", certificate_pem(client)));
      args.push_back("-key=" + dir_.write("client.key", key_pem(client)));
    }
    args.push_back("https://a.test:" + port + "/");
    const std::string result = results_of(args, 1).front();
    EXPECT_THAT(result, HasSubstr(row.error[0] == '\0' ? "\"code\":200," : "\"code\":0,"));
    EXPECT_THAT(result, HasSubstr(row.error));
  }
}

TEST_F(Certificates, OfClientsThatAreNoUseEndTheCommandWithOneLine) {
  const Identity mine = make_identity({});
  const std::string certificate = dir_.write("mine.pem", certificate_pem(mine));
  const std::string missing = dir_.path("missing.pem");
  const TestServer server;
  struct FileCase {
    const char* name;
    std::string certificate, key, error;
  };
  const FileCase cases[] = {
      {"LockedKey", certificate, dir_.write("locked.key", key_pem(mine, "word")), "locked.key is encrypted"},
      {"KeyOfAnother", certificate, dir_.write("other.key", key_pem(make_identity({}))), "does not match public key"},
      {"MissingKey", certificate, missing, "open " + missing + ": no such file or directory"},
      {"MissingCertificate", missing, certificate, "open " + missing + ": no such file or directory"},
      {"NoKey", certificate, certificate, "no private key in " + certificate},
      {"DirectoryAsKey", certificate, dir_.path("."), "is a directory"},
      {"NoCertificate", dir_.write("garbage", "MARKER"), certificate, "no certificate in "},
      {"NoCertificateButAKey", dir_.write("mine.key", key_pem(mine)), "", "no certificate in "},
  };
  for (const FileCase& row : cases) {
    SCOPED_TRACE(row.name);
    const Ended ended = run_pepe_binary({"attack", "-rate=10", "-duration=100ms", "-cert=" + row.certificate,
                                         "-key=" + row.key, "-output=/dev/null", server.url()});
    EXPECT_EQ(ended.status, 1);
    EXPECT_EQ(line_count(ended.err), 1U) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr(row.error));
  }
  EXPECT_THAT(server.requests(), IsEmpty());
}

}  // namespace
}  // namespace pepe
