#pragma once

#include <functional>
#include <memory>
#include <string_view>

namespace pepe {

/// Unpacks a gzip body piece by piece, in bounded memory: the output goes on as it is made.
class Inflater {
 public:
  Inflater();
  ~Inflater();
  Inflater(Inflater&&) noexcept;

  /// Unpacks `packed` into calls of `out`. False: not gzip, or corrupt.
  bool append(std::string_view packed, const std::function<void(std::string_view)>& out);
  /// True when the packed stream came to its proper end.
  bool complete() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace pepe
