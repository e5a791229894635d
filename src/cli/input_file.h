#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "pepe/base/expected.h"
#include "pepe/base/time.h"

namespace pepe {

/// What a file is, whatever it is called: two names of one file have equal ids.
struct FileId {
  dev_t device{0};
  ino_t inode{0};
  bool regular{false};
  friend bool operator==(const FileId&, const FileId&) = default;
};

FileId file_id(int descriptor);
/// Of no file when there is none at `path`.
FileId file_id(const std::string& path);

/// What the owner of a slow input wants to do between its bytes. Each may be empty. An error ends the
/// reading.
struct ReadHooks {
  /// Before each read; how long the read may wait before it is asked again, nullopt: for ever.
  std::function<Expected<std::optional<Nanos>>()> before_read;
  /// Nothing is there to be read; the read is about to wait.
  std::function<Expected<void>()> before_wait;
  /// A descriptor that ends the reading by becoming readable; -1: none.
  int cancel{-1};
};

/// An open file or standard input. Closes what it opened.
class InputFile {
 public:
  /// `name`: a path, or "stdin". Error: `open NAME: no such file or directory`.
  static Expected<InputFile> open(const std::string& name);
  /// `path` is a path, whatever it spells. Error: `open PATH: no such file or directory`.
  static Expected<InputFile> open_path(const std::string& path);

  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;
  ~InputFile();

  const std::string& name() const noexcept { return name_; }
  const FileId& id() const noexcept { return id_; }
  /// Bytes read so far.
  std::uint64_t bytes_read() const noexcept { return bytes_read_; }

  /// A read has failed, so that a file of which no bytes were read need not be empty.
  bool failed() const noexcept { return failed_; }

  /// Fills `buffer` with what there is, waiting for at least one byte; 0 at the end, and once an interrupt
  /// has ended the reading. Error: `read NAME: ...`.
  Expected<std::size_t> read(std::span<char> buffer, const ReadHooks& hooks = {});
  /// All that is left. Error: also where that is over `most` bytes, so that what is endless does not take all memory.
  Expected<std::string> read_all(const ReadHooks& hooks = {}, std::size_t most = kMostBytes);

  static constexpr std::size_t kMostBytes = std::size_t{1} << 30;

 private:
  InputFile(std::string name, int descriptor, bool owned);
  enum class Ready { kInput, kNothing, kCancelled };
  Expected<Ready> wait(const ReadHooks& hooks, std::optional<Nanos> at_most);

  std::string name_;
  int descriptor_{-1};
  bool owned_{false};
  FileId id_;
  std::uint64_t bytes_read_{0};
  bool failed_{false};
};

}  // namespace pepe
