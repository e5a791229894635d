#include "support/process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace pepe {
namespace {

/// A file without a name, with `content`, to be read from its start.
int unnamed_file(std::string_view content = {}) {
  std::FILE* file = std::tmpfile();
  if (file == nullptr) std::abort();
  const int descriptor = ::fcntl(::fileno(file), F_DUPFD_CLOEXEC, 3);
  std::fclose(file);
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor, content.data(), content.size());
    if (written <= 0) std::abort();
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  ::lseek(descriptor, 0, SEEK_SET);
  return descriptor;
}

std::string content_of(int descriptor) {
  std::string content;
  std::array<char, 64 * 1024> buffer{};
  ssize_t got = 0;
  ::lseek(descriptor, 0, SEEK_SET);
  while ((got = ::read(descriptor, buffer.data(), buffer.size())) > 0) {
    content.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return content;
}

}  // namespace

Process::Process(const std::string& program, const Launch& launch) {
  out_ = unnamed_file();
  err_ = unnamed_file();
  const int in = launch.input_descriptor >= 0 ? launch.input_descriptor : unnamed_file(launch.input);
  const int out = launch.output_descriptor >= 0 ? launch.output_descriptor : out_;
  const int err = launch.error_descriptor >= 0 ? launch.error_descriptor : err_;
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (const std::string& arg : launch.args) argv.push_back(const_cast<char*>(arg.c_str()));
  argv.push_back(nullptr);

  pid_ = ::fork();
  if (pid_ == 0) {
    // Copies first: where the test itself has a standard stream closed, one of these may stand in its place.
    const std::array copies{::fcntl(in, F_DUPFD_CLOEXEC, 3), ::fcntl(out, F_DUPFD_CLOEXEC, 3),
                            ::fcntl(err, F_DUPFD_CLOEXEC, 3)};
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
      ::dup2(copies[static_cast<std::size_t>(stream)], stream);
    }
    for (const std::string& variable : launch.environment) ::putenv(const_cast<char*>(variable.c_str()));
    if (launch.output_closed) ::close(STDOUT_FILENO);
    if (!launch.directory.empty() && ::chdir(launch.directory.c_str()) != 0) ::_exit(126);
    ::execv(program.c_str(), argv.data());
    ::_exit(127);
  }
  if (in != launch.input_descriptor) ::close(in);
}

Process::~Process() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    wait();
  }
  ::close(out_);
  ::close(err_);
}

void Process::send_signal(int signal) const { ::kill(pid_, signal); }

Ended Process::wait() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  Ended ended;
  if (WIFEXITED(status)) ended.status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) ended.signal = WTERMSIG(status);
  ended.out = content_of(out_);
  ended.err = content_of(err_);
  return ended;
}

}  // namespace pepe
