#include "cli/output_file.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

#include "cli/console.h"
#include "cli/exit_status.h"
#include "pepe/base/text.h"

namespace pepe {
namespace {

bool is_one_of(const FileId& id, std::span<const FileId> inputs) {
  return id.regular && std::find(inputs.begin(), inputs.end(), id) != inputs.end();
}

/// Whether the descriptor was opened for writing. One that was closed when the process started holds a place
/// that cannot be written to.
bool is_writable(int descriptor) {
  const int flags = ::fcntl(descriptor, F_GETFL);
  return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

}  // namespace

OutputFile::OutputFile(std::string name, int descriptor, bool owned)
    : name_{std::move(name)}, descriptor_{descriptor}, owned_{owned}, terminal_{pepe::is_terminal(descriptor)} {}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : name_{std::move(other.name_)},
      descriptor_{std::exchange(other.descriptor_, -1)},
      owned_{std::exchange(other.owned_, false)},
      terminal_{other.terminal_},
      reader_gone_{other.reader_gone_} {}

OutputFile::~OutputFile() {
  if (owned_) ::close(descriptor_);
}

Expected<OutputFile> OutputFile::open(const std::string& name, std::span<const FileId> inputs) {
  const std::string where = "open " + name + ": ";
  if (name == "stdout") {
    if (!is_writable(STDOUT_FILENO)) return Error{where + "it is closed"};
    if (is_one_of(file_id(STDOUT_FILENO), inputs)) return Error{where + "it is one of the inputs as well"};
    return OutputFile{name, STDOUT_FILENO, false};
  }
  // Cut to nothing only when it is known to be no input.
  const int descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) return system_error("open " + name, errno);
  OutputFile file{name, descriptor, true};
  const FileId id = file_id(descriptor);
  if (is_one_of(id, inputs)) return Error{where + "it is one of the inputs as well"};
  if (id.regular && ::ftruncate(descriptor, 0) != 0) return system_error("truncate " + name, errno);
  return file;
}

Expected<void> OutputFile::write(std::string_view bytes) {
  if (!terminal_) return write_raw(bytes);
  std::string safe;
  append_terminal_safe(bytes, safe);
  return write_raw(safe);
}

Expected<void> OutputFile::write_raw(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (written < 0 && errno == EAGAIN) {
      // Whoever shares the pipe made it non-blocking.
      pollfd writable{descriptor_, POLLOUT, 0};
      ::poll(&writable, 1, -1);
    } else if (written < 0 && errno != EINTR) {
      reader_gone_ = errno == EPIPE;
      return system_error("write " + name_, errno);
    }
  }
  return {};
}

Expected<void> OutputFile::close() {
  if (!owned_) return {};
  owned_ = false;
  if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) return system_error("close " + name_, errno);
  return {};
}

int OutputFile::fail(const Error& error) const {
  if (reader_gone_ && is_stdout()) {
    std::signal(SIGPIPE, SIG_DFL);
    std::raise(SIGPIPE);
    return kExitFailure;
  }
  return pepe::fail(error.text());
}

}  // namespace pepe
