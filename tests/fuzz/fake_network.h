#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "pepe/base/time.h"

namespace pepe::fuzz {

/// A server's side of a conversation, step by step. In the text of a script, the byte 0xFF begins what is no answer:
///   c  closes the connection    r  resets it      s  says nothing more
///   w  waits for a request      x  refuses to be connected to, once
/// Before anything else it is a byte like any other.
struct Step {
  enum class Kind : char { kBytes, kClose = 'c', kReset = 'r', kSilence = 's', kAwait = 'w', kRefuse = 'x' };
  Kind kind{Kind::kBytes};
  std::string_view bytes{};
};
std::vector<Step> parse_script(std::string_view text);

/// What a worker's sockets, dials, waits and clock are in a program that is linked with fake_network.cc: one script is
/// played to whichever connection asks, answers come in pieces, and time passes only while there is nothing else to do.
/// One at a time exists.
class FakeNetwork {
 public:
  struct Options {
    std::size_t piece{SIZE_MAX};  ///< Bytes that arrive at once.
    bool sends_in_halves{false};  ///< A socket takes half of what it is given, and more when it is asked again.
    bool closes_at_once{false};   ///< A close comes with the last bytes before it.
  };
  FakeNetwork(std::vector<Step> script, Options options);
  ~FakeNetwork();
  FakeNetwork(const FakeNetwork&) = delete;
  static FakeNetwork* current() noexcept { return current_; }

  /// A new socket; -1: the script refuses it.
  int connect();
  void watch(int fd, void* tag);
  void forget(int fd);
  void await_room(int fd) { socket(fd).wants_room = true; }
  long send(int fd, std::string_view bytes);
  long receive(int fd, char* to, std::size_t size);
  /// Lets what is to come next arrive at each socket.
  struct Arrival {
    void* tag;
    bool readable;
    bool writable;
    bool closing;
  };
  const std::vector<Arrival>& arrive();

  Instant now() noexcept { return now_ += std::chrono::microseconds{1}; }
  void pass(Instant until) noexcept { now_ = until > now_ ? until : now_; }

  /// Requests that were sent, on all connections.
  std::size_t requests() const noexcept { return requests_; }
  std::size_t open() const noexcept { return open_; }

 private:
  static constexpr int kFirstFd = 1 << 20;
  struct Socket {
    void* tag{nullptr};
    bool open{true};
    std::size_t requests{0};
    std::size_t awaited{1};  ///< Requests that it has to have sent for the script to go on.
    bool wants_room{false};
    bool has_room{false};
    bool half_sent{false};
    std::string sent_tail;  ///< Of what was sent, as far as it may be the beginning of the mark of a request.
    std::string inbox;
    bool closed{false};
    bool reset{false};
    bool silent{false};
  };

  Socket& socket(int fd);
  bool next_step_is(Step::Kind kind) const noexcept;
  bool deliver(Socket& socket);

  static FakeNetwork* current_;

  std::vector<Step> script_;
  std::size_t at_{0};
  Options options_;
  std::deque<Socket> sockets_;
  std::vector<Arrival> arrivals_;
  std::size_t requests_{0};
  std::size_t open_{0};
  Instant now_{std::chrono::hours{1}};
};

}  // namespace pepe::fuzz
