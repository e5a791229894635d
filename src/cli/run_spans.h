#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pepe/base/time.h"
#include "pepe/result/result.h"

namespace pepe {

/// When the runs in a set of results took place, to tell idle time between them from time of attack.
class RunSpans {
 public:
  /// Adds a result of input number `input`; runs are told apart by input and attack name.
  void add(std::size_t input, const Result& result);

  /// The longest time in which no run took place, between the first and the last hit. nullopt: none worth a
  /// word, that is over a second, a tenth of the whole, and the usual time between two hits.
  std::optional<Nanos> longest_gap() const;

 private:
  struct Span {
    std::size_t input;
    std::string attack;
    std::int64_t first;
    std::int64_t last;
    std::uint64_t hits;
  };
  Span* find(std::size_t input, const Result& result);

  std::vector<Span> spans_;
  std::vector<std::size_t> latest_;  ///< By input: the span of its latest result.
};

}  // namespace pepe
