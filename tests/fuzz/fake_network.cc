// Takes the place of the engine's ready set, dialer and sink, and of the calls of the system and the clock that are
// wrapped when it is linked (pepe_fake_network in CMakeLists.txt).
#include "fuzz/fake_network.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <utility>

#include "engine/dialer.h"
#include "engine/ready_set.h"
#include "engine/sink.h"
#include "pepe/base/check.h"

namespace pepe::fuzz {

std::vector<Step> parse_script(std::string_view text) {
  constexpr char kMark = '\xFF';
  std::vector<Step> steps;
  for (std::size_t at = 0; at < text.size();) {
    const bool marked = text[at] == kMark && at + 1 < text.size() &&
                        std::string_view{"crswx"}.find(text[at + 1]) != std::string_view::npos;
    if (marked) {
      steps.push_back({static_cast<Step::Kind>(text[at + 1]), {}});
      at += 2;
      continue;
    }
    const std::size_t end = std::min(text.find(kMark, at + 1), text.size());
    steps.push_back({Step::Kind::kBytes, text.substr(at, end - at)});
    at = end;
  }
  return steps;
}

FakeNetwork* FakeNetwork::current_ = nullptr;

FakeNetwork::FakeNetwork(std::vector<Step> script, Options options) : script_{std::move(script)}, options_{options} {
  PEPE_CHECK(current_ == nullptr);
  current_ = this;
}

FakeNetwork::~FakeNetwork() { current_ = nullptr; }

FakeNetwork::Socket& FakeNetwork::socket(int fd) {
  PEPE_CHECK(fd >= kFirstFd && static_cast<std::size_t>(fd - kFirstFd) < sockets_.size());
  Socket& found = sockets_[static_cast<std::size_t>(fd - kFirstFd)];
  PEPE_CHECK(found.open);
  return found;
}

bool FakeNetwork::next_step_is(Step::Kind kind) const noexcept {
  return at_ < script_.size() && script_[at_].kind == kind;
}

int FakeNetwork::connect() {
  if (next_step_is(Step::Kind::kRefuse)) return ++at_, -1;
  sockets_.emplace_back();
  ++open_;
  return kFirstFd + static_cast<int>(sockets_.size()) - 1;
}

void FakeNetwork::watch(int fd, void* tag) { socket(fd).tag = tag; }

void FakeNetwork::forget(int fd) {
  socket(fd).open = false;
  --open_;
}

long FakeNetwork::send(int fd, std::string_view bytes) {
  Socket& to = socket(fd);
  if (to.closed || to.reset) return errno = EPIPE, -1;
  if (options_.sends_in_halves) {
    const bool rest = to.half_sent;
    if (rest && !to.has_room) return errno = EAGAIN, -1;
    to.half_sent = !rest;
    to.has_room = false;
    if (!rest) bytes = bytes.substr(0, (bytes.size() + 1) / 2);
  }
  constexpr std::string_view kMark = "\r\nX-Vegeta-Seq: ";
  to.sent_tail.append(bytes);
  for (std::size_t mark = 0; (mark = to.sent_tail.find(kMark)) != std::string::npos;) {
    to.sent_tail.erase(0, mark + kMark.size());
    ++to.requests;
    ++requests_;
  }
  return static_cast<long>(bytes.size());
}

long FakeNetwork::receive(int fd, char* to, std::size_t size) {
  Socket& from = socket(fd);
  if (!from.inbox.empty()) {
    const std::size_t count = std::min(size, from.inbox.size());
    std::memcpy(to, from.inbox.data(), count);
    from.inbox.erase(0, count);
    return static_cast<long>(count);
  }
  if (from.reset) return errno = ECONNRESET, -1;
  if (from.closed) return 0;
  return errno = EAGAIN, -1;
}

// Whether something new has come. After its last step a server closes whatever is asked of it.
bool FakeNetwork::deliver(Socket& socket) {
  if (socket.closed || socket.reset || socket.silent) return false;
  // A refusal that nobody met is passed over.
  for (; next_step_is(Step::Kind::kAwait) || next_step_is(Step::Kind::kRefuse); ++at_)
    socket.awaited += next_step_is(Step::Kind::kAwait) ? 1U : 0U;
  if (socket.requests < socket.awaited) return false;
  if (at_ == script_.size()) return socket.closed = true;
  Step& step = script_[at_];
  switch (step.kind) {
    case Step::Kind::kBytes: {
      const std::string_view piece = step.bytes.substr(0, options_.piece);
      socket.inbox.append(piece);
      step.bytes.remove_prefix(piece.size());
      if (!step.bytes.empty()) return true;
      ++at_;
      if (options_.closes_at_once && next_step_is(Step::Kind::kClose)) return ++at_, socket.closed = true;
      return true;
    }
    case Step::Kind::kClose: return ++at_, socket.closed = true;
    case Step::Kind::kReset: return ++at_, socket.reset = true;
    case Step::Kind::kSilence: return ++at_, socket.silent = true, false;
    case Step::Kind::kAwait:
    case Step::Kind::kRefuse: break;
  }
  return false;
}

const std::vector<FakeNetwork::Arrival>& FakeNetwork::arrive() {
  arrivals_.clear();
  for (Socket& one : sockets_) {
    if (!one.open) continue;
    const bool writable = std::exchange(one.wants_room, false);
    one.has_room = one.has_room || writable;
    const bool readable = deliver(one);
    if (readable || writable) arrivals_.push_back({one.tag, readable, writable, one.closed || one.reset});
  }
  return arrivals_;
}

}  // namespace pepe::fuzz

namespace pepe {
namespace {

using fuzz::FakeNetwork;

class FakeDialer final : public Dialer {
 public:
  explicit FakeDialer(asio::io_context& io) : io_{io} {}
  Id dial(const Origin&, Done done) override {
    waiting_.emplace(++last_, std::move(done));
    asio::post(io_, [this, id = last_] { conclude(id); });
    return last_;
  }
  void cancel(Id id) override { waiting_.erase(id); }
  std::string phase(Id id) const override { return waiting_.count(id) != 0 ? "connecting" : ""; }
  bool current(const Peer&) override { return true; }
  bool idle() const override { return waiting_.empty(); }

 private:
  void conclude(Id id) {
    const auto found = waiting_.find(id);
    if (found == waiting_.end()) return;
    const Done done = std::move(found->second);
    waiting_.erase(found);
    const int fd = FakeNetwork::current()->connect();
    if (fd < 0) return done(Error{"dial tcp 0.0.0.0:0->127.0.0.1:80: connect: connection refused"});
    done(Dialed{fd, nullptr, false, {}});
  }

  asio::io_context& io_;
  Id last_{0};
  std::map<Id, Done> waiting_;
};

}  // namespace

std::unique_ptr<Dialer> make_dialer(asio::io_context& io, DialPlan&) { return std::make_unique<FakeDialer>(io); }

struct ReadySet::State {
  asio::io_context& io;
  std::vector<ReadyEvent> events;
};
ReadySet::ReadySet(asio::io_context& io) : state_{new State{io, {}}} {}
ReadySet::~ReadySet() = default;
int ReadySet::fault() const noexcept { return 0; }
bool ReadySet::add(int fd, void* tag) { return FakeNetwork::current()->watch(fd, tag), true; }
void ReadySet::remove(int fd) { FakeNetwork::current()->forget(fd); }
void ReadySet::await_writable(int fd) { FakeNetwork::current()->await_room(fd); }
std::span<const ReadyEvent> ReadySet::poll() {
  state_->events.clear();
  for (const FakeNetwork::Arrival& one : FakeNetwork::current()->arrive())
    state_->events.push_back({one.tag, one.readable, one.writable, one.closing, one.closing});
  return state_->events;
}
std::span<const ReadyEvent> ReadySet::wait(Instant, Instant until, bool) {
  if (state_->io.poll() > 0) return {};
  const std::span<const ReadyEvent> events = poll();
  if (!events.empty()) return events;
  PEPE_CHECK(until != Instant::max());
  FakeNetwork::current()->pass(until);
  return {};
}
void ReadySet::wake() noexcept {}

Sink::Sink(ChunkSink& out, std::function<void()> on_error) : out_{out}, on_error_{std::move(on_error)} {}
Sink::~Sink() = default;
bool Sink::offer(std::string& chunk) { return force(std::exchange(chunk, {})), true; }
void Sink::force(std::string chunk) { static_cast<void>(out_.write(chunk)); }

}  // namespace pepe

namespace {

// Large buffers are kept for the next run: a sanitizer takes longer over them than a run takes.
constexpr std::size_t kLarge = std::size_t{128} << 10;
// Never destroyed: what is still reachable has not leaked.
auto& spare_buffers = *new std::map<std::size_t, std::vector<void*>>;
auto& large_buffers = *new std::map<void*, std::size_t>;

}  // namespace

// The linker's --wrap sends the calls of this program here.
extern "C" {
// new[] and delete[]
void* __real__Znam(std::size_t size);
void* __wrap__Znam(std::size_t size) {
  if (size < kLarge) return __real__Znam(size);
  std::vector<void*>& spares = spare_buffers[size];
  if (spares.empty()) {
    void* const buffer = __real__Znam(size);
    large_buffers.emplace(buffer, size);
    return buffer;
  }
  void* const buffer = spares.back();
  spares.pop_back();
  return buffer;
}
void __real__ZdaPv(void* buffer);
void __wrap__ZdaPv(void* buffer) {
  const auto found = large_buffers.find(buffer);
  if (found == large_buffers.end()) return __real__ZdaPv(buffer);
  spare_buffers[found->second].push_back(buffer);
}
long __wrap_send(int fd, const void* bytes, std::size_t size, int) {
  return pepe::fuzz::FakeNetwork::current()->send(fd, {static_cast<const char*>(bytes), size});
}
long __wrap_sendmsg(int fd, const msghdr* message, int) {
  std::string bytes;
  for (std::size_t i = 0; i < message->msg_iovlen; ++i)
    bytes.append(static_cast<const char*>(message->msg_iov[i].iov_base), message->msg_iov[i].iov_len);
  return pepe::fuzz::FakeNetwork::current()->send(fd, bytes);
}
long __wrap_recv(int fd, void* to, std::size_t size, int) {
  return pepe::fuzz::FakeNetwork::current()->receive(fd, static_cast<char*>(to), size);
}
int __wrap_close(int) { return 0; }
int __wrap_getpeername(int, sockaddr*, socklen_t*) { return -1; }
int __wrap_getsockname(int, sockaddr*, socklen_t*) { return -1; }
// std::chrono::steady_clock::now()
std::int64_t __wrap__ZNSt6chrono3_V212steady_clock3nowEv() {
  return pepe::fuzz::FakeNetwork::current()->now().time_since_epoch().count();
}
}
