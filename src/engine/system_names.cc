#include <netdb.h>

#include <cctype>
#include <cerrno>
#include <chrono>
#include <deque>
#include <fstream>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <utility>

#include "engine/resolver.h"
#include "engine/shortage.h"
#include "engine/signals.h"
#include "engine/transport.h"
#include "pepe/base/error.h"

namespace pepe {
namespace {

// Lookups that may be under way at once, for one worker; the rest wait. More would only pile up on a dead
// server.
constexpr std::size_t kMaxThreads = 16;
constexpr std::chrono::milliseconds kMemoryPause{100};

// The server that error texts name: the first of the system's configuration.
std::string system_server() {
  std::ifstream config{"/etc/resolv.conf"};
  for (std::string word; config >> word;) {
    std::string server;
    if (word == "nameserver" && config >> server) {
      return server.find(':') == std::string::npos ? server + ":53" : "[" + server + "]:53";
    }
    std::getline(config, word);
  }
  return "127.0.0.1:53";
}

std::string cause_of(int code, int system_errno) {
  if (code == EAI_NONAME || code == EAI_NODATA) return "no such host";
  if (code == EAI_SYSTEM) return errno_text(system_errno);
  std::string text = gai_strerror(code);
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

Expected<Addresses> ask_system(const std::string& name) {
  const auto failed = [&name](const std::string& cause) {
    return Error{"lookup " + name + " on " + system_server() + ": " + cause};
  };
  // A NUL would end the name early, and another host would be attacked.
  if (name.find('\0') != std::string::npos) return failed("no such host");
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int code = getaddrinfo(name.c_str(), nullptr, &hints, &found);
  if (code != 0) return failed(cause_of(code, errno));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner{found, freeaddrinfo};
  Addresses addresses;
  for (const addrinfo* item = found; item != nullptr; item = item->ai_next) {
    if (item->ai_family == AF_INET || item->ai_family == AF_INET6) addresses.push_back(to_address(*item->ai_addr));
  }
  if (addresses.empty()) return failed("no such host");
  return addresses;
}

class SystemNames final : public NameService {
 public:
  explicit SystemNames(asio::io_context& io) : mailbox_{std::make_shared<Mailbox>()} {
    mailbox_->io = &io;
    mailbox_->owner = this;
  }
  ~SystemNames() override {
    const std::lock_guard lock{mailbox_->mutex};
    mailbox_->io = nullptr;
    mailbox_->owner = nullptr;
  }

  void lookup(const std::string& name, Done done) override {
    queue_.push_back({name, std::move(done)});
    start_queued();
  }

 private:
  // What a lookup's thread and its owner share, so that the owner may go first.
  struct Mailbox {
    std::mutex mutex;  // Of `io`. `owner` is used on the io_context's thread only.
    asio::io_context* io{nullptr};
    SystemNames* owner{nullptr};
  };
  struct Question {
    std::string name;
    Done done;
  };

  void start_queued() {
    while (!queue_.empty() && running_ < kMaxThreads) {
      Question question = std::move(queue_.front());
      queue_.pop_front();
      ++running_;
      start(std::move(question));
    }
  }

  void start(Question question) {
    const auto answer = [mailbox = mailbox_, done = std::move(question.done)](Expected<Addresses> addresses) {
      const std::lock_guard lock{mailbox->mutex};
      if (mailbox->io == nullptr) return;
      asio::post(*mailbox->io, [mailbox, done, addresses = std::move(addresses)] {
        if (mailbox->owner != nullptr) mailbox->owner->finish(done, addresses);
      });
    };
    auto thread = start_thread([answer, name = question.name] {
      leave_signals_to_others();
      // Until there is memory to ask and to tell, or nobody waits any more.
      for (;;) {
        try {
          return answer(ask_system(name));
        } catch (const std::bad_alloc&) {
          std::this_thread::sleep_for(kMemoryPause);
        }
      }
    });
    if (!thread) return answer(Error{"lookup " + question.name + ": " + thread.error().text()});
    thread->detach();
  }

  void finish(const Done& done, const Expected<Addresses>& addresses) {
    --running_;
    start_queued();
    done(addresses);
  }

  std::shared_ptr<Mailbox> mailbox_;
  std::deque<Question> queue_;
  std::size_t running_{0};
};

}  // namespace

std::unique_ptr<NameService> make_system_names(asio::io_context& io) { return std::make_unique<SystemNames>(io); }

}  // namespace pepe
