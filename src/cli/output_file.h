#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/input_file.h"
#include "pepe/base/expected.h"

namespace pepe {

/// An open file, pipe or standard output to write to. Closes what it opened.
/// Every write can fail, of results, reports and plots alike: it is whole or an error, and the first error ends the run
/// with one line and a status that is not 0 (fail()). SIGPIPE is ignored, so that a closed pipe is an error too.
class OutputFile {
 public:
  /// `name`: a path (created, or cut to nothing), or "stdout". A file that is one of `inputs` is refused
  /// untouched. Error: `open NAME: ...`.
  static Expected<OutputFile> open(const std::string& name, std::span<const FileId> inputs = {});

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) = delete;
  ~OutputFile();

  bool is_stdout() const noexcept { return !owned_; }
  bool is_terminal() const noexcept { return terminal_; }
  /// On a terminal, what would drive it is escaped: text from outside may be among `bytes`. Error: `write NAME: no
  /// space left on device`.
  Expected<void> write(std::string_view bytes);
  /// The same without escapes, for pepe's own screen codes.
  Expected<void> write_raw(std::string_view bytes);
  /// What the system has to say about the writes at the very end. Standard output stays open.
  Expected<void> close();

  /// The status to end with after `error`, which write() or close() gave. A pipe on standard output whose
  /// reader has gone ends the process by SIGPIPE, without a word, as shells expect; anything else is said.
  int fail(const Error& error) const;

 private:
  OutputFile(std::string name, int descriptor, bool owned);

  std::string name_;
  int descriptor_{-1};
  bool owned_{false};
  bool terminal_{false};
  bool reader_gone_{false};
};

}  // namespace pepe
