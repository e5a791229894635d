#include "cli/input_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "cli/interrupt.h"

namespace pepe {
namespace {

/// Milliseconds for poll(), rounded up so that it does not return just before the time; -1: for ever.
int poll_timeout(std::optional<Nanos> at_most) {
  if (!at_most) return -1;
  const auto millis = std::chrono::ceil<std::chrono::milliseconds>(*at_most).count();
  return static_cast<int>(std::clamp<std::int64_t>(millis, 0, 60'000));
}

std::optional<Nanos> sooner(std::optional<Nanos> a, std::optional<Nanos> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

FileId id_of(const struct stat& status) { return {status.st_dev, status.st_ino, S_ISREG(status.st_mode)}; }

}  // namespace

FileId file_id(int descriptor) {
  struct stat status {};
  return ::fstat(descriptor, &status) == 0 ? id_of(status) : FileId{};
}

FileId file_id(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? id_of(status) : FileId{};
}

InputFile::InputFile(std::string name, int descriptor, bool owned)
    : name_{std::move(name)}, descriptor_{descriptor}, owned_{owned}, id_{file_id(descriptor)} {}

InputFile::InputFile(InputFile&& other) noexcept { *this = std::move(other); }

InputFile& InputFile::operator=(InputFile&& other) noexcept {
  std::swap(name_, other.name_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(owned_, other.owned_);
  std::swap(id_, other.id_);
  std::swap(bytes_read_, other.bytes_read_);
  std::swap(failed_, other.failed_);
  return *this;
}

InputFile::~InputFile() {
  if (owned_) ::close(descriptor_);
}

Expected<InputFile> InputFile::open(const std::string& name) {
  if (name == "stdin") return InputFile{name, STDIN_FILENO, false};
  return open_path(name);
}

Expected<InputFile> InputFile::open_path(const std::string& path) {
  // The system would take the name to end there, and open another file.
  if (path.find('\0') != std::string::npos) return system_error("open " + path, EINVAL);
  int descriptor = -1;
  do {
    // A named pipe that nobody writes to is waited for in wait(), which can be told to stop; open() could not.
    descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  } while (descriptor < 0 && errno == EINTR && !interrupt::happened());
  if (descriptor < 0) return system_error("open " + path, errno);
  return InputFile{path, descriptor, true};
}

Expected<InputFile::Ready> InputFile::wait(const ReadHooks& hooks, std::optional<Nanos> at_most) {
  std::array<pollfd, 3> watched{
      {{descriptor_, POLLIN, 0}, {interrupt::descriptor(), POLLIN, 0}, {hooks.cancel, POLLIN, 0}}};
  int ready = ::poll(watched.data(), watched.size(), 0);
  if (ready == 0) {
    if (hooks.before_wait) {
      if (auto done = hooks.before_wait(); !done) return std::move(done).error();
    }
    ready = ::poll(watched.data(), watched.size(), poll_timeout(at_most));
  }
  if (ready < 0 && errno != EINTR) return system_error("poll " + name_, errno);
  if (ready > 0 && watched[1].revents != 0) interrupt::acknowledge();
  if (ready > 0 && watched[2].revents != 0) return Ready::kCancelled;
  return ready > 0 && watched[0].revents != 0 ? Ready::kInput : Ready::kNothing;
}

Expected<std::size_t> InputFile::read(std::span<char> buffer, const ReadHooks& hooks) {
  while (true) {
    const std::optional<Nanos> left = interrupt::time_left();
    if (left && (id_.regular || left->count() == 0)) return std::size_t{0};
    std::optional<Nanos> at_most = left;
    if (hooks.before_read) {
      auto asked = hooks.before_read();
      if (!asked) return std::move(asked).error();
      at_most = sooner(at_most, *asked);
    }
    if (!id_.regular) {
      const auto ready = wait(hooks, at_most);
      if (!ready) return ready.error();
      if (*ready == Ready::kCancelled) return std::size_t{0};
      if (*ready == Ready::kNothing) continue;
    }
    const ssize_t got = ::read(descriptor_, buffer.data(), buffer.size());
    if (got >= 0) {
      bytes_read_ += static_cast<std::uint64_t>(got);
      return static_cast<std::size_t>(got);
    }
    if (errno == EINTR || errno == EAGAIN) continue;
    failed_ = true;
    return system_error("read " + name_, errno);
  }
}

Expected<std::string> InputFile::read_all(const ReadHooks& hooks, std::size_t most) {
  constexpr std::size_t kStep = 64 * 1024;
  std::string bytes;
  while (true) {
    const std::size_t size = bytes.size();
    bytes.resize(size + kStep);
    const auto got = read({bytes.data() + size, kStep}, hooks);
    if (!got) return got.error();
    bytes.resize(size + *got);
    if (*got == 0) return bytes;
    if (bytes.size() > most) return Error{fmt::format("read {}: it is too large: want at most {} bytes", name_, most)};
  }
}

}  // namespace pepe
