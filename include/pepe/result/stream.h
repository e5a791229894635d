#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "pepe/base/expected.h"
#include "pepe/result/codec.h"
#include "pepe/result/result.h"

namespace pepe {

/// Where a reader's bytes come from: fills `buffer`, 0 at the end. May block, and then returns what there is.
using ReadSome = std::function<Expected<std::size_t>(std::span<char> buffer)>;

/// One input of results: a name for error texts and its bytes.
struct ResultInput {
  std::string name;
  ReadSome read;
};

/// Reads the results of one input in whatever encoding it has (found from its first bytes).
class ResultReader {
 public:
  virtual ~ResultReader() = default;
  /// The next result, valid until the next call; nullptr at the end. Error: `NAME: ...`; nothing follows.
  /// Blocks only when no whole result is in what was read so far.
  virtual Expected<const Result*> next() = 0;
};

/// Reads the first bytes and finds the encoding. Error: `encode: can't detect encoding of "NAME"`; empty input as well.
Expected<std::unique_ptr<ResultReader>> open_results(ResultInput input, DecoderEvents events, DecodeOptions options);

/// One result from each reader in turn, in their order, as vegeta does; a reader at its end drops out. A reader that
/// fails drops out too: its error is kept, the others are read on, and the first error is returned at the very end.
std::unique_ptr<ResultReader> round_robin(std::vector<std::unique_ptr<ResultReader>> readers);

}  // namespace pepe
