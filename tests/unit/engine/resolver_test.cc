#include "engine/resolver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "unit/engine/loopback.h"

namespace pepe {
namespace {

using asio::ip::make_address;
using std::chrono::milliseconds;
using std::chrono::seconds;

Addresses addresses(std::initializer_list<const char*> texts) {
  Addresses made;
  for (const char* text : texts) made.push_back(make_address(text));
  return made;
}

Instant at(Nanos offset) { return Instant{offset}; }

TEST(NameCache, KeepsAnAnswerForTheRun) {
  NameCache cache{Nanos{0}};
  EXPECT_FALSE(cache.find("a", at(seconds{0})));
  cache.store("a", addresses({"127.0.0.1"}), at(seconds{0}));
  const auto answer = cache.find("a", at(seconds{100'000}));
  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->fresh);
  EXPECT_EQ(answer->addresses, addresses({"127.0.0.1"}));
}

TEST(NameCache, KnowsWhenAnAnswerIsOld) {
  NameCache cache{milliseconds{200}};
  cache.store("a", addresses({"127.0.0.1"}), at(seconds{1}));
  EXPECT_TRUE(cache.find("a", at(milliseconds{1'199}))->fresh);
  EXPECT_FALSE(cache.find("a", at(milliseconds{1'200}))->fresh);
}

TEST(NameCache, KeepsNothingBelowZero) {
  NameCache cache{Nanos{-1}};
  cache.store("a", addresses({"127.0.0.1"}), at(seconds{1}));
  EXPECT_FALSE(cache.find("a", at(seconds{1})));
}

TEST(NameCache, RotatesWithinEachFamily) {
  NameCache cache{Nanos{0}};
  const Addresses listed = addresses({"::1", "::2", "127.0.0.1", "127.0.0.2", "127.0.0.3"});
  EXPECT_EQ(cache.order("a", listed), addresses({"::1", "127.0.0.1", "::2", "127.0.0.2", "127.0.0.3"}));
  EXPECT_EQ(cache.order("a", listed), addresses({"::2", "127.0.0.2", "::1", "127.0.0.3", "127.0.0.1"}));
  EXPECT_EQ(cache.order("b", listed).front(), make_address("::1"));
}

TEST(NameCache, PutsTheFamilyThatWorkedInFrontAlsoWithoutCaching) {
  NameCache cache{Nanos{-1}};
  const Addresses listed = addresses({"::1", "127.0.0.1"});
  EXPECT_EQ(cache.order("a", listed).front(), make_address("::1"));
  cache.connected("a", make_address("127.0.0.1"));
  EXPECT_EQ(cache.order("a", listed), addresses({"127.0.0.1", "::1"}));
}

TEST(NameCache, ListsWhatTheLastAnswerHad) {
  NameCache cache{seconds{1}};
  EXPECT_TRUE(cache.lists("a", make_address("127.0.0.1")));
  cache.store("a", addresses({"127.0.0.2"}), at(seconds{0}));
  EXPECT_FALSE(cache.lists("a", make_address("127.0.0.1")));
  EXPECT_TRUE(cache.lists("a", make_address("127.0.0.2")));
}

/// Answers when the test says so.
class HeldNames final : public NameService {
 public:
  explicit HeldNames(std::deque<std::pair<std::string, Done>>& held) : held_{held} {}
  void lookup(const std::string& name, Done done) override { held_.emplace_back(name, std::move(done)); }

 private:
  std::deque<std::pair<std::string, Done>>& held_;
};

class ResolverTest : public testing::Test {
 protected:
  void open(Nanos ttl) {
    cache_.emplace(ttl);
    resolver_.emplace(io_, *cache_, std::make_unique<HeldNames>(held_));
  }
  Resolver::Id resolve(const std::string& name) {
    return resolver_->resolve(name, [this](const Expected<Addresses>& answer) {
      answers_.push_back(answer ? answer->front().to_string() : answer.error().text());
    });
  }
  void answer(Expected<Addresses> with) {
    const auto done = std::move(held_.front().second);
    held_.pop_front();
    done(std::move(with));
  }
  void run() {
    io_.restart();
    io_.run();
  }

  asio::io_context io_;
  std::optional<NameCache> cache_;
  std::deque<std::pair<std::string, NameService::Done>> held_;
  std::optional<Resolver> resolver_;
  std::vector<std::string> answers_;
};

TEST_F(ResolverTest, AsksOnceForAllWhoWait) {
  open(Nanos{0});
  resolve("a");
  resolve("a");
  resolve("b");
  ASSERT_EQ(held_.size(), 2U);
  answer(addresses({"127.0.0.1"}));
  EXPECT_EQ(answers_, (std::vector<std::string>{"127.0.0.1", "127.0.0.1"}));
  resolve("a");
  EXPECT_EQ(answers_.size(), 2U) << "an answer from the cache must not come inside resolve()";
  run();
  EXPECT_EQ(answers_.size(), 3U);
  EXPECT_EQ(held_.size(), 1U);
}

TEST_F(ResolverTest, CancelledWaitEndsInSilenceAndStillFillsTheCache) {
  open(Nanos{0});
  resolver_->cancel(resolve("a"));
  answer(addresses({"127.0.0.1"}));
  EXPECT_TRUE(answers_.empty());
  EXPECT_TRUE(cache_->find("a", Clock::now()));
  resolver_->cancel(resolve("a"));
  run();
  EXPECT_TRUE(answers_.empty());
}

TEST_F(ResolverTest, FailureIsNotKept) {
  open(Nanos{0});
  resolve("a");
  answer(Error{"no such host"});
  EXPECT_EQ(answers_, (std::vector<std::string>{"no such host"}));
  resolve("a");
  EXPECT_EQ(held_.size(), 1U);
}

TEST_F(ResolverTest, OldAnswerServesWhileItIsAskedForAgain) {
  open(Nanos{1});
  resolve("a");
  answer(addresses({"127.0.0.1"}));
  resolve("a");
  resolver_->refresh("a");
  ASSERT_EQ(held_.size(), 1U);
  run();
  EXPECT_EQ(answers_.size(), 2U);
  answer(Error{"server misbehaving"});
  EXPECT_TRUE(cache_->find("a", Clock::now()));
  resolver_->refresh("a");
  answer(addresses({"127.0.0.2"}));
  EXPECT_FALSE(cache_->lists("a", make_address("127.0.0.1")));
}

TEST_F(ResolverTest, RefreshAsksForNothingThatWasNeverAsked) {
  open(Nanos{1});
  resolver_->refresh("a");
  EXPECT_TRUE(held_.empty());
}

TEST(SystemNames, FindsThisMachine) {
  asio::io_context io;
  const auto names = make_system_names(io);
  const auto guard = asio::make_work_guard(io);
  bool found = false;
  names->lookup("localhost", [&](const Expected<Addresses>& answer) {
    found = answer && answer->front().is_loopback();
    io.stop();
  });
  io.run();
  EXPECT_TRUE(found);
}

TEST(SystemNames, MayGoBeforeItsAnswersCome) {
  asio::io_context io;
  auto names = make_system_names(io);
  bool answered = false;
  for (int i = 0; i < 40; ++i) names->lookup("localhost", [&](const Expected<Addresses>&) { answered = true; });
  names.reset();
  io.run();
  EXPECT_FALSE(answered);
}

/// A name server on loopback that knows names by what they say: "both" has an address of each version, "nx"
/// does not exist, "broken" fails, "mute" gets no answer.
class FakeDns {
 public:
  explicit FakeDns(asio::io_context& io) : socket_{io, asio::ip::udp::endpoint{make_address("127.0.0.1"), 0}} {
    receive();
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(socket_.local_endpoint().port()); }
  /// "both.test A", as they came.
  const std::vector<std::string>& asked() const { return asked_; }
  void stop() { socket_.close(); }

 private:
  void receive() {
    socket_.async_receive_from(asio::buffer(packet_), from_, [this](error_code ec, std::size_t size) {
      if (ec) return;
      answer(std::string_view{packet_.data(), size});
      receive();
    });
  }

  void answer(std::string_view query) {
    std::string name;
    std::size_t at = 12;
    while (query[at] != 0) {
      const auto length = static_cast<std::size_t>(query[at]);
      name += (name.empty() ? "" : ".") + std::string{query.substr(at + 1, length)};
      at += 1 + length;
    }
    const bool v6 = query[at + 2] == 28;
    asked_.push_back(name + (v6 ? " AAAA" : " A"));
    if (name.starts_with("mute")) return;
    const std::string_view question = query.substr(12, at + 5 - 12);
    const char code = name.starts_with("nx") ? 3 : name.starts_with("broken") ? 2 : 0;
    const bool has_address = code == 0 && (!v6 || name.starts_with("both"));
    std::string reply{query.substr(0, 2)};
    reply += {'\x81', static_cast<char>('\x80' | code), 0, 1, 0, static_cast<char>(has_address), 0, 0, 0, 0};
    reply += question;
    if (has_address) {
      reply += {'\xc0', 12, 0, static_cast<char>(v6 ? 28 : 1), 0, 1, 0, 0, 0, 60, 0, static_cast<char>(v6 ? 16 : 4)};
      reply += v6 ? std::string(15, 0) + '\1' : std::string{127, 0, 0, 5};
    }
    socket_.send_to(asio::buffer(reply), from_);
  }

  asio::ip::udp::socket socket_;
  asio::ip::udp::endpoint from_;
  std::array<char, 512> packet_{};
  std::vector<std::string> asked_;
};

class AresNames : public testing::Test {
 protected:
  void open(const std::vector<std::string>& servers) {
    auto names = make_ares_names(io_, servers);
    ASSERT_TRUE(names) << names.error().text();
    names_ = *std::move(names);
  }
  /// The addresses, or the error.
  std::string ask(const std::string& name) {
    std::optional<std::string> text;
    names_->lookup(name, [&](const Expected<Addresses>& answer) {
      text = answer ? "" : answer.error().text();
      if (!answer) return;
      for (const auto& address : *answer) *text += (text->empty() ? "" : " ") + address.to_string();
    });
    EXPECT_FALSE(text) << "an answer must not come inside lookup()";
    while (!text) io_.run_one();
    return *text;
  }

  asio::io_context io_;
  FakeDns first_{io_};
  FakeDns second_{io_};
  std::unique_ptr<NameService> names_;
};

TEST_F(AresNames, AsksForBothVersionsOnce) {
  open({first_.address()});
  EXPECT_EQ(ask("v4only.test"), "127.0.0.5");
  EXPECT_THAT(first_.asked(), testing::UnorderedElementsAre("v4only.test A", "v4only.test AAAA"));
  EXPECT_THAT(ask("both.test"), testing::AnyOf("::1 127.0.0.5", "127.0.0.5 ::1"));
}

TEST_F(AresNames, LooksIntoTheHostsFileFirst) {
  open({first_.address()});
  EXPECT_THAT(ask("localhost"), testing::HasSubstr("127.0.0.1"));
  EXPECT_TRUE(first_.asked().empty());
}

TEST_F(AresNames, TellsWhyThereIsNoAddress) {
  open({first_.address()});
  EXPECT_EQ(ask("nx.test"), "lookup nx.test on " + first_.address() + ": no such host");
  EXPECT_EQ(ask("broken.test"), "lookup broken.test on " + first_.address() + ": server misbehaving, or none there");
  EXPECT_EQ(ask(std::string{"a\0b", 3}),
            "lookup a" + std::string(1, 0) + "b on " + first_.address() + ": no such host");
  EXPECT_THAT(ask(std::string(300, 'a')), testing::EndsWith("no such host"));
}

TEST_F(AresNames, TakeServersInTurnFromTheSecondOn) {
  open({first_.address(), second_.address()});
  for (const char* name : {"a.test", "b.test", "c.test"}) ask(name);
  EXPECT_THAT(second_.asked(), testing::UnorderedElementsAre("a.test A", "a.test AAAA", "c.test A", "c.test AAAA"));
  EXPECT_THAT(first_.asked(), testing::UnorderedElementsAre("b.test A", "b.test AAAA"));
}

TEST_F(AresNames, PassOverAServerThatIsDown) {
  open({first_.address(), second_.address()});
  second_.stop();
  EXPECT_EQ(ask("a.test"), "127.0.0.5");
}

TEST_F(AresNames, MayGoWhileAQuestionIsUnderWay) {
  open({first_.address()});
  bool answered = false;
  names_->lookup("mute.test", [&](const Expected<Addresses>&) { answered = true; });
  io_.poll();
  names_->lookup("localhost", [&](const Expected<Addresses>&) { answered = true; });
  names_.reset();
  first_.stop();
  second_.stop();
  io_.restart();
  io_.run();
  EXPECT_FALSE(answered);
}

TEST(RoutePlan, ReadsResolvers) {
  for (const auto& [text, good] : {std::pair{"127.0.0.1", true},
                                   {"127.0.0.1:5353", true},
                                   {"::1", true},
                                   {"[::1]:5353", true},
                                   {"dns.test:53", false},
                                   {"dns.test", false},
                                   {"127.0.0.1:99999", false},
                                   {"127.0.0.1:", false},
                                   {"", false}}) {
    EXPECT_EQ(make_dial_plan(with(&AttackOptions::resolvers, {text})).has_value(), good) << text;
  }
}

}  // namespace
}  // namespace pepe
