#include "cli/attack_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace pepe {
namespace {

using testing::HasSubstr;

struct Attack {
  AttackFlags flags;
  FlagSet set{"pepe attack", "Attacks."};
  Attack() { add_attack_flags(set, flags); }
  ParsedArguments parse(std::vector<std::string> args) { return set.parse(args); }
};

TEST(AttackFlags, DefaultToWhatVegetaDoes) {
  const Attack attack;
  const AttackOptions& options = attack.flags.options;
  EXPECT_EQ(options.rate, (Rate{50, std::chrono::seconds{1}}));
  EXPECT_EQ(options.duration, Nanos{0});
  EXPECT_EQ(options.timeout, std::chrono::seconds{30});
  EXPECT_EQ(options.max_workers, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(options.connections, 10000);
  EXPECT_EQ(options.redirects, 10);
  EXPECT_EQ(options.max_body, -1);
  EXPECT_TRUE(options.keepalive);
  EXPECT_TRUE(options.http2);
  EXPECT_EQ(attack.flags.format, "http");
  EXPECT_EQ(attack.flags.output, "stdout");
}

TEST(AttackFlags, ReachTheOptionsOfTheEngine) {
  Attack attack;
  const auto parsed = attack.parse({"-rate=3/250ms",
                                    "-duration=1m",
                                    "-timeout=2s",
                                    "-workers=7",
                                    "-max-workers=8",
                                    "-connections=9",
                                    "-max-connections=10",
                                    "-redirects=-1",
                                    "-max-body=1kb",
                                    "-keepalive=false",
                                    "-chunked",
                                    "-lazy",
                                    "-name=n",
                                    "-threads=2",
                                    "-unix-socket=s",
                                    "-laddr=127.0.0.1",
                                    "-connect-to=a:1:b:2",
                                    "-dns-ttl=-1",
                                    "-insecure",
                                    "-root-certs=a.pem,b.pem",
                                    "-cert=c",
                                    "-key=k",
                                    "-session-tickets",
                                    "-http2=false",
                                    "-h2c",
                                    "-prometheus-addr=127.0.0.1:1",
                                    "-proxy-header=P: 1"});
  ASSERT_EQ(parsed.fault, std::nullopt);
  const AttackOptions& options = attack.flags.options;
  EXPECT_EQ(options.rate, (Rate{3, std::chrono::milliseconds{250}}));
  EXPECT_EQ(options.duration, std::chrono::minutes{1});
  EXPECT_EQ(options.timeout, std::chrono::seconds{2});
  EXPECT_EQ(options.workers, 7U);
  EXPECT_EQ(options.max_workers, 8U);
  EXPECT_EQ(options.connections, 9);
  EXPECT_EQ(options.max_connections, 10);
  EXPECT_EQ(options.redirects, -1);
  EXPECT_EQ(options.max_body, 1024);
  EXPECT_FALSE(options.keepalive);
  EXPECT_TRUE(options.chunked);
  EXPECT_TRUE(options.lazy);
  EXPECT_EQ(options.name, "n");
  EXPECT_EQ(options.threads, 2U);
  EXPECT_EQ(options.unix_socket, "s");
  EXPECT_EQ(options.local_address, "127.0.0.1");
  ASSERT_EQ(options.connect_to.size(), 1U);
  EXPECT_EQ(options.connect_to[0].from, "a:1");
  EXPECT_EQ(options.dns_ttl, Nanos{-1});
  EXPECT_TRUE(options.tls.insecure);
  EXPECT_EQ(options.tls.root_cert_files, (std::vector<std::string>{"a.pem", "b.pem"}));
  EXPECT_EQ(options.tls.cert_file, "c");
  EXPECT_EQ(options.tls.key_file, "k");
  EXPECT_TRUE(options.tls.session_tickets);
  EXPECT_FALSE(options.http2);
  EXPECT_TRUE(options.h2c);
  EXPECT_EQ(options.prometheus_address, "127.0.0.1:1");
  EXPECT_EQ(options.proxy_headers, (std::vector<HeaderField>{{"P", "1"}}));
}

TEST(AttackFlags, LetTheLastListWin) {
  Attack attack;
  ASSERT_EQ(attack.parse({"-root-certs=a,b", "-root-certs=c"}).fault, std::nullopt);
  EXPECT_EQ(attack.flags.options.tls.root_cert_files, std::vector<std::string>{"c"});
}

TEST(AttackFlags, RefuseBadValues) {
  for (const char* arg : {"-rate=abc",
                          "-rate=1.5",
                          "-rate=5/",
                          "-rate=5/1x",
                          "-rate=5/1",
                          "-rate=",
                          "-rate= 5",
                          "-rate=0x10",
                          "-rate=-5",
                          "-rate=5/-1s",
                          "-duration=5",
                          "-duration=",
                          "-max-workers=-1",
                          "-max-workers=0",
                          "-connections=1.5",
                          "-max-body=-2",
                          "-max-body=1Kb",
                          "-dns-ttl=5",
                          "-connect-to=a:1:b",
                          "-connect-to=a:http:b:1",
                          "-connect-to=a::b:1",
                          "-connect-to=a:080:b:1",
                          "-connect-to=a:65536:b:1",
                          "-laddr=999.1.1.1",
                          "-threads=0",
                          "-progress=maybe",
                          "-proxy-header=foo"}) {
    SCOPED_TRACE(arg);
    Attack attack;
    const auto parsed = attack.parse({arg});
    ASSERT_NE(parsed.fault, std::nullopt);
    const std::string text{arg};
    EXPECT_THAT(*parsed.fault, HasSubstr("for flag " + text.substr(0, text.find('='))));
  }
}

struct RateCase {
  const char* name;
  std::vector<std::string> args;
  const char* error;  ///< Empty: none.
};

const RateCase kRateCases[] = {
    {"Paced", {"-rate=5"}, ""},
    {"Zero", {"-rate=0"}, "-rate=0 requires setting -max-workers"},
    {"ZeroInAnything", {"-rate=0/x"}, "-rate=0 requires setting -max-workers"},
    {"Infinity", {"-rate=infinity"}, "-rate=infinity requires setting -max-workers"},
    {"InNoTime", {"-rate=5/0s"}, "-rate=5/0s requires setting -max-workers"},
    {"ZeroWithACap", {"-rate=0", "-max-workers=4"}, ""},
    {"InfinityWithACap", {"-rate=infinity", "-max-workers=4"}, ""},
    {"LastRateWins", {"-rate=0", "-rate=5"}, ""},
};

TEST(AttackFlags, AskForACapOfAnUnpacedRate) {
  for (const RateCase& row : kRateCases) {
    SCOPED_TRACE(row.name);
    Attack attack;
    ASSERT_EQ(attack.parse(row.args).fault, std::nullopt);
    const auto checked = check_rate(attack.flags);
    EXPECT_EQ(checked ? "" : checked.error().text(), row.error);
  }
}

TEST(AttackWords, AreTargetsWhenTheyAreUrls) {
  const std::vector<std::string> words{"http://a/", "some", "HTTPS://b/", "http://c\nX: 1"};
  const auto sorted = sort_attack_words(words, false);
  ASSERT_TRUE(sorted);
  EXPECT_EQ(sorted->urls, (std::vector<std::string>{"http://a/", "HTTPS://b/"}));
  EXPECT_EQ(sorted->ignored, (std::vector<std::string>{"some", "http://c\nX: 1"}));
}

TEST(AttackWords, AreIgnoredBesideATargetsFile) {
  const std::vector<std::string> words{"http://a/", "-rate=5"};
  const auto sorted = sort_attack_words(words, true);
  ASSERT_TRUE(sorted);
  EXPECT_TRUE(sorted->urls.empty());
  EXPECT_EQ(sorted->ignored, words);
}

TEST(AttackWords, MayNotHideAFlagBehindAUrl) {
  const std::vector<std::string> words{"http://a/", "-duration=5s"};
  const auto sorted = sort_attack_words(words, false);
  ASSERT_FALSE(sorted);
  EXPECT_THAT(sorted.error().text(), HasSubstr("first URL: -duration"));
}

TEST(FlagsAsGiven, LeaveSecretsOut) {
  Attack attack;
  const auto parsed = attack.parse({"-rate=5", "-header=Authorization: hush", "-lazy"});
  EXPECT_EQ(flags_as_given(parsed.given), (std::vector<std::string>{"-rate=5", "-header", "-lazy=true"}));
}

}  // namespace
}  // namespace pepe
