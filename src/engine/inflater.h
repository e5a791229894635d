#pragma once

#include <functional>
#include <memory>
#include <string_view>

namespace pepe {

/// Unpacks a gzip body piece by piece, in bounded memory and in bounded time: a few packed bytes can unpack to a
/// thousand times as many, so each call makes some output, and what is left is kept for the next one.
class Inflater {
 public:
  enum class Status {
    kDone,     ///< All that was given is unpacked.
    kBusy,     ///< There is more to unpack: call go_on().
    kCorrupt,  ///< It is not gzip, or corrupt.
    kNoMemory,
    kStopped,  ///< `out` said so.
  };
  /// Gets what was unpacked; false: no more is wanted.
  using Out = std::function<bool(std::string_view)>;

  Inflater();
  ~Inflater();
  Inflater(Inflater&&) noexcept;

  /// Takes more of the packed stream.
  Status append(std::string_view packed, const Out& out);
  Status go_on(const Out& out);
  bool busy() const noexcept;
  /// All that was given is unpacked, and the packed stream came to its proper end.
  bool complete() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace pepe
