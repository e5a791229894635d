#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/input_file.h"
#include "cli/run_spans.h"
#include "pepe/base/expected.h"
#include "pepe/result/codec.h"
#include "pepe/result/stream.h"

namespace pepe {

struct ResultInputsOptions {
  DecodeOptions decode;
  ReadHooks hooks;
  std::function<void(const RunFacts&)> facts;  ///< May be empty.
  bool need_lag{false};  ///< A file ends, with an error, at the first result of which nobody knows how late it was.
};

/// The result files that a command names, read as one: a result from each in turn. Damage is said on standard
/// error as it is met, unless an interrupt cut the reading short.
class ResultInputs {
 public:
  /// Opens each file and finds its encoding, in order. No names: standard input. An empty file among several
  /// is passed over with a remark. An interrupt meanwhile is the end of what is read. Error: the first file that can't
  /// be opened or made sense of.
  static Expected<ResultInputs> open(std::vector<std::string> names, ResultInputsOptions options);

  ResultInputs(ResultInputs&&) noexcept;
  ~ResultInputs();

  /// The next result, valid until the next call; nullptr at the end, also at the one that an interrupt makes.
  /// Error: what can't be read on; every result that could be read was returned before it.
  Expected<const Result*> next();

  /// At the end: nothing, or the failure that results were lost where reading went on. Each place was said on
  /// standard error.
  Expected<void> check_loss() const;

  /// Hands each result to `take`, up to the end. Error: what can't be read on, or that results were lost on the way.
  template <class Take>
  Expected<void> read_all(Take take) {
    while (true) {
      const auto result = next();
      if (!result) return result.error();
      if (*result == nullptr) return check_loss();
      take(**result);
    }
  }

  /// How many results next() has returned.
  std::uint64_t given() const noexcept;

  /// Of the files, to tell an output that is one of them.
  std::span<const FileId> ids() const noexcept;
  /// A remark on idle time between the runs that were read, or nothing.
  std::optional<std::string> gap_remark() const;

 private:
  struct State;
  explicit ResultInputs(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace pepe
