#include "engine/resolver.h"

#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <string>

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

}  // namespace
}  // namespace pepe
