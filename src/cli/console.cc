#include "cli/console.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "cli/exit_status.h"
#include "pepe/base/text.h"

namespace pepe {
namespace {

// An argument may hold megabytes; a message need not.
constexpr std::size_t kLongestLine = 4096;

// Set before the first thread starts.
bool notes_are_silent = false;

std::string date_prefix() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  return fmt::format("{:04}/{:02}/{:02} {:02}:{:02}:{:02} ", local.tm_year + 1900, local.tm_mon + 1, local.tm_mday,
                     local.tm_hour, local.tm_min, local.tm_sec);
}

}  // namespace

std::string one_line(std::string_view text) { return printable(text, kLongestLine) + "\n"; }

void print_error_text(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    // There is no other place to say that standard error is gone.
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void print_failure(std::string_view text) { print_error_text(date_prefix() + one_line(text)); }

int fail(std::string_view text) {
  print_failure(text);
  return kExitFailure;
}

void print_note(std::string_view text) {
  if (!notes_are_silent) print_error_text("pepe: " + one_line(text));
}

bool silence_notes_among_results() {
  struct stat out {};
  struct stat error {};
  const bool known = ::fstat(STDOUT_FILENO, &out) == 0 && ::fstat(STDERR_FILENO, &error) == 0;
  notes_are_silent = known && out.st_dev == error.st_dev && out.st_ino == error.st_ino &&
                     (S_ISREG(out.st_mode) || S_ISFIFO(out.st_mode));
  return notes_are_silent;
}

bool is_terminal(int descriptor) { return ::isatty(descriptor) == 1; }

}  // namespace pepe
