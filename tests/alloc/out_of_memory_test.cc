// Attacks in which one allocation after the other fails: none may end in anything but results, or one clear error.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "alloc/failing_new.h"
#include "pepe/engine/attack.h"
#include "support/string_results.h"
#include "support/test_server.h"

namespace pepe {
namespace {

using namespace std::chrono_literals;

/// A server in a process of its own, whose memory does not fail.
class ServerProcess {
 public:
  ServerProcess() {
    int url[2];
    int end[2];
    EXPECT_EQ(::pipe(url), 0);
    EXPECT_EQ(::pipe(end), 0);
    child_ = ::fork();
    if (child_ == 0) {
      ::close(end[1]);
      {
        const TestServer server{[](const TestRequest& request) {
          return TestAnswer{.body = std::string(request.target == "/large" ? 100'000 : 100, 'x')};
        }};
        const std::uint16_t port = server.port();
        if (::write(url[1], &port, sizeof port) != sizeof port) ::_exit(1);
        char byte;
        static_cast<void>(!::read(end[0], &byte, 1));
      }
      ::_exit(0);
    }
    ::close(end[0]);
    end_ = end[1];
    EXPECT_EQ(::read(url[0], &port_, sizeof port_), static_cast<long>(sizeof port_));
    ::close(url[0]);
    ::close(url[1]);
  }
  ServerProcess(const ServerProcess&) = delete;
  ~ServerProcess() {
    ::close(end_);
    ::waitpid(child_, nullptr, 0);
  }
  std::string url(const std::string& path) const { return "http://127.0.0.1:" + std::to_string(port_) + path; }

 private:
  pid_t child_{-1};
  int end_{-1};
  std::uint16_t port_{0};
};

class CountedTargeter final : public Targeter {
 public:
  CountedTargeter(std::vector<std::string> urls, std::size_t count) : urls_{std::move(urls)}, count_{count} {}
  Expected<std::optional<Target>> next() override {
    if (at_ == count_) return std::optional<Target>{};
    return std::optional<Target>{Target{"GET", urls_[at_++ % urls_.size()], {}, nullptr}};
  }

 private:
  const std::vector<std::string> urls_;
  const std::size_t count_;
  std::size_t at_{0};
};

/// Results that can be read from `bytes`; nullopt: damage.
std::optional<std::uint64_t> count_results(const std::string& bytes) {
  DecoderEvents events;
  bool damaged = false;
  events.damage = [&damaged](const std::string&) { damaged = true; };
  auto reader = open_results(input_of(bytes), std::move(events), {});
  if (!reader) return bytes.empty() ? std::optional<std::uint64_t>{0} : std::nullopt;
  for (std::uint64_t count = 0;; ++count) {
    const auto result = (*reader)->next();
    if (!result || damaged) return std::nullopt;
    if (*result == nullptr) return count;
  }
}

struct OutOfMemoryCase {
  const char* name;
  AttackOptions options;
  std::uint64_t failures;
};
void PrintTo(const OutOfMemoryCase& row, std::ostream* out) { *out << row.name; }

const OutOfMemoryCase kOutOfMemoryCases[] = {
    {"OneAllocation", {.rate = {5000, 1s}, .duration = 2ms, .timeout = 2s, .threads = 1}, 1},
    {"TwoThreads", {.rate = {5000, 1s}, .duration = 2ms, .timeout = 2s, .threads = 2}, 1},
    {"ManyInARow", {.rate = {5000, 1s}, .duration = 2ms, .timeout = 2s, .threads = 1}, 30},
    {"AllOfThem", {.rate = {5000, 1s}, .duration = 2ms, .timeout = 2s, .threads = 1}, UINT32_MAX},
    {"LazyList", {.rate = {5000, 1s}, .duration = 100ms, .timeout = 2s, .lazy = true}, 1},
    {"ClosedLoop", {.rate = {0, 1s}, .duration = 2ms, .timeout = 2s, .max_workers = 3, .threads = 1}, 1},
    {"Endpoint", {.rate = {5000, 1s}, .duration = 2ms, .timeout = 2s, .prometheus_address = "127.0.0.1:0"}, 1},
};

class OutOfMemory : public testing::TestWithParam<OutOfMemoryCase> {};
INSTANTIATE_TEST_SUITE_P(Rows, OutOfMemory, testing::ValuesIn(kOutOfMemoryCases),
                         [](const auto& row) { return std::string{row.param.name}; });

TEST_P(OutOfMemory, LeavesResultsOrAClearError) {
  const ServerProcess server;
  const auto pacer = make_constant_pacer(GetParam().options.rate);
  int summaries = 0;
  int errors = 0;
  std::uint64_t failed = 0;
  // Threads make their allocations in another order each time: one run without the failure says little.
  int in_vain = 0;
  for (std::uint64_t first = 0; in_vain < 10 && first < 3000; first += first < 200 ? 1 : 7) {
    SCOPED_TRACE("from allocation " + std::to_string(first));
    CountedTargeter targeter{{server.url("/small"), server.url("/large"), server.url("/")}, 30};
    StringSink sink;
    std::optional<Expected<AttackSummary>> summary;
    {
      const FailingNew failing{first, GetParam().failures};
      summary.emplace(attack(GetParam().options, targeter, *pacer, sink, {}));
      in_vain = failing.happened() ? 0 : in_vain + 1;
    }
    const auto results = count_results(sink.bytes);
    ASSERT_TRUE(results) << "the results are damaged";
    if (!*summary) {
      ++errors;
      EXPECT_FALSE(summary->error().text().empty());
      EXPECT_EQ(summary->error().text().find('\n'), std::string::npos);
      continue;
    }
    ++summaries;
    failed += (**summary).failed;
    EXPECT_EQ(*results, (**summary).facts.sent);
  }
  EXPECT_GT(errors, 0);
  EXPECT_GT(summaries, 0);
  // With more of them there is no memory for the results of the hits that fail either.
  if (GetParam().failures == 1) {
    EXPECT_GT(failed, 0U) << "no hit ever lacked memory";
  }
}

}  // namespace
}  // namespace pepe
