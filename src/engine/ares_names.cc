#include <ares.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/resolver.h"
#include "engine/transport.h"
#include "pepe/base/error.h"

namespace pepe {
namespace {

// How long a server may be silent before the next one is asked, in ms; it doubles with each round over all
// servers.
constexpr int kServerTimeoutMs = 1000;
constexpr int kRounds = 3;

std::string cause_of(int status) {
  switch (status) {
    case ARES_ENOTFOUND:
    case ARES_ENODATA:
    case ARES_EBADNAME: return "no such host";
    case ARES_ETIMEOUT: return "i/o timeout";
    case ARES_ECONNREFUSED:  // c-ares says this also of servers that answered with a failure.
      return "server misbehaving, or none there";
    default: return "server misbehaving";
  }
}

Addresses addresses_of(const ares_addrinfo& info) {
  Addresses found;
  for (const ares_addrinfo_node* node = info.nodes; node != nullptr; node = node->ai_next) {
    if (node->ai_family == AF_INET || node->ai_family == AF_INET6) found.push_back(to_address(*node->ai_addr));
  }
  return found;
}

/// A c-ares channel on an io_context. Shared with the handlers of its sockets, which may still be queued when
/// it closes.
class AresChannel : public std::enable_shared_from_this<AresChannel> {
 public:
  using Done = NameService::Done;

  /// `servers`: in the order to ask them.
  AresChannel(asio::io_context& io, std::vector<std::string> servers)
      : io_{io}, servers_{std::move(servers)}, timer_{io} {}

  Expected<void> open();
  void close();
  void lookup(const std::string& name, Done done);

 private:
  /// One of c-ares' sockets, while it is watched. c-ares closes it.
  struct Watch {
    Watch(asio::io_context& io, int socket_fd) : descriptor{io}, fd{socket_fd} {}
    asio::posix::stream_descriptor descriptor;
    const int fd;
    bool reads{false};
    bool writes{false};
    bool read_awaited{false};
    bool write_awaited{false};
  };
  struct Question {
    std::shared_ptr<AresChannel> channel;
    std::string name;
    Done done;
  };

  static void on_socket_state(void* self, ares_socket_t fd, int reads, int writes);
  static void on_answer(void* question, int status, int timeouts, ares_addrinfo* info);
  void watch(int fd, bool reads, bool writes);
  void await(const std::shared_ptr<Watch>& watch);
  void process(ares_socket_t readable, ares_socket_t writable);
  void arm_timer();

  asio::io_context& io_;
  const std::vector<std::string> servers_;
  ares_channel channel_{nullptr};
  asio::steady_timer timer_;
  std::map<int, std::shared_ptr<Watch>> watches_;
};

Expected<void> AresChannel::open() {
  char lookups[] = "fb";  // The hosts file first.
  ares_options options{};
  options.timeout = kServerTimeoutMs;
  options.tries = kRounds;
  options.lookups = lookups;
  options.sock_state_cb = on_socket_state;
  options.sock_state_cb_data = this;
  const int chosen = ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_LOOKUPS | ARES_OPT_SOCK_STATE_CB;
  int status = ares_init_options(&channel_, &options, chosen);
  if (status == ARES_SUCCESS) {
    std::string list;
    for (const std::string& server : servers_) list += (list.empty() ? "" : ",") + server;
    status = ares_set_servers_ports_csv(channel_, list.c_str());
  }
  if (status != ARES_SUCCESS) return Error{std::string{"-resolvers: "} + ares_strerror(status)};
  return {};
}

void AresChannel::close() {
  timer_.cancel();
  if (channel_ != nullptr) ares_destroy(std::exchange(channel_, nullptr));
  watches_.clear();
}

void AresChannel::lookup(const std::string& name, Done done) {
  auto question = std::make_unique<Question>(Question{shared_from_this(), name, std::move(done)});
  // A NUL would end the name early, and another host would be attacked.
  if (name.find('\0') != std::string::npos) return on_answer(question.release(), ARES_EBADNAME, 0, nullptr);
  ares_addrinfo_hints hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  ares_getaddrinfo(channel_, name.c_str(), nullptr, &hints, on_answer, question.release());
  arm_timer();
}

// May run inside lookup(), when the hosts file has the name, and inside close().
void AresChannel::on_answer(void* from, int status, int, ares_addrinfo* info) {
  const std::shared_ptr<Question> question{static_cast<Question*>(from)};
  Addresses found;
  if (info != nullptr) {
    if (status == ARES_SUCCESS) found = addresses_of(*info);
    ares_freeaddrinfo(info);
  }
  if (status == ARES_EDESTRUCTION) return;
  Expected<Addresses> answer{std::move(found)};
  if (answer->empty()) {
    const std::string& server = question->channel->servers_.front();
    const std::string cause = cause_of(status == ARES_SUCCESS ? ARES_ENODATA : status);
    answer = Error{"lookup " + question->name + " on " + server + ": " + cause};
  }
  asio::post(question->channel->io_, [question, answer = std::move(answer)] {
    if (question->channel->channel_ != nullptr) question->done(answer);
  });
}

void AresChannel::on_socket_state(void* self, ares_socket_t fd, int reads, int writes) {
  static_cast<AresChannel*>(self)->watch(fd, reads != 0, writes != 0);
}

void AresChannel::watch(int fd, bool reads, bool writes) {
  if (!reads && !writes) {
    const auto closed = watches_.extract(fd);
    if (!closed.empty()) closed.mapped()->descriptor.release();
    return;
  }
  std::shared_ptr<Watch>& watch = watches_[fd];
  if (!watch) {
    watch = std::make_shared<Watch>(io_, fd);
    error_code ec;
    watch->descriptor.assign(fd, ec);
    // The system cannot watch more: the question will time out.
    if (ec) return;
  }
  watch->reads = reads;
  watch->writes = writes;
  await(watch);
}

void AresChannel::await(const std::shared_ptr<Watch>& watch) {
  using Descriptor = asio::posix::stream_descriptor;
  const auto still_watched = [](const AresChannel& channel, const std::shared_ptr<Watch>& awaited) {
    const auto found = channel.watches_.find(awaited->fd);
    return found != channel.watches_.end() && found->second == awaited;
  };
  if (watch->reads && !std::exchange(watch->read_awaited, true)) {
    watch->descriptor.async_wait(Descriptor::wait_read,
                                 [self = shared_from_this(), watch, still_watched](error_code ec) {
                                   watch->read_awaited = false;
                                   if (ec || !still_watched(*self, watch)) return;
                                   self->process(watch->fd, ARES_SOCKET_BAD);
                                   if (still_watched(*self, watch)) self->await(watch);
                                 });
  }
  if (watch->writes && !std::exchange(watch->write_awaited, true)) {
    watch->descriptor.async_wait(Descriptor::wait_write,
                                 [self = shared_from_this(), watch, still_watched](error_code ec) {
                                   watch->write_awaited = false;
                                   if (ec || !still_watched(*self, watch)) return;
                                   self->process(ARES_SOCKET_BAD, watch->fd);
                                   if (still_watched(*self, watch)) self->await(watch);
                                 });
  }
}

void AresChannel::process(ares_socket_t readable, ares_socket_t writable) {
  if (channel_ == nullptr) return;
  ares_process_fd(channel_, readable, writable);
  arm_timer();
}

void AresChannel::arm_timer() {
  timeval wait{};
  if (ares_timeout(channel_, nullptr, &wait) == nullptr) {
    timer_.cancel();
    return;
  }
  timer_.expires_after(std::chrono::seconds{wait.tv_sec} + std::chrono::microseconds{wait.tv_usec});
  timer_.async_wait([self = shared_from_this()](error_code ec) {
    if (!ec) self->process(ARES_SOCKET_BAD, ARES_SOCKET_BAD);
  });
}

/// A channel for each server, with the others behind it for when it is silent: so questions take the servers
/// in turn.
class AresNames final : public NameService {
 public:
  AresNames(asio::io_context& io, const std::vector<std::string>& servers) {
    for (std::size_t first = 0; first < servers.size(); ++first) {
      std::vector<std::string> in_order = servers;
      std::rotate(in_order.begin(), in_order.begin() + static_cast<std::ptrdiff_t>(first), in_order.end());
      channels_.push_back(std::make_shared<AresChannel>(io, std::move(in_order)));
    }
  }
  ~AresNames() override {
    for (const std::shared_ptr<AresChannel>& channel : channels_) channel->close();
  }

  Expected<void> open() {
    for (const std::shared_ptr<AresChannel>& channel : channels_) {
      if (Expected<void> opened = channel->open(); !opened) return opened;
    }
    return {};
  }

  void lookup(const std::string& name, Done done) override {
    channels_[turn_++ % channels_.size()]->lookup(name, std::move(done));
  }

 private:
  std::vector<std::shared_ptr<AresChannel>> channels_;
  std::size_t turn_{1};  // The second server is asked first, as in vegeta.
};

}  // namespace

Expected<std::unique_ptr<NameService>> make_ares_names(asio::io_context& io, const std::vector<std::string>& servers) {
  auto names = std::make_unique<AresNames>(io, servers);
  if (Expected<void> opened = names->open(); !opened) return std::move(opened).error();
  return std::unique_ptr<NameService>{std::move(names)};
}

}  // namespace pepe
