#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace pepe {

/// What came of a program.
struct Ended {
  int status{-1};  ///< Exit status; -1 when a signal ended it.
  int signal{0};
  std::string out;
  std::string err;
};

/// How a program is started. What is left empty is the default.
struct Launch {
  std::vector<std::string> args;
  std::string input;                     ///< Standard input.
  int input_descriptor{-1};              ///< Standard input, instead of `input`.
  int output_descriptor{-1};             ///< Standard output, instead of being gathered.
  int error_descriptor{-1};              ///< Standard error, instead of being gathered.
  bool output_closed{false};             ///< Standard output is closed.
  std::string directory;                 ///< Working directory.
  std::vector<std::string> environment;  ///< "NAME=value" each, beside what the test has itself.
};

/// A running program. Killed when it is still running at the end of its scope.
class Process {
 public:
  Process(const std::string& program, const Launch& launch);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  void send_signal(int signal) const;
  Ended wait();

 private:
  pid_t pid_{-1};
  int out_{-1};  ///< An unnamed file each, so that no pipe has to be drained.
  int err_{-1};
};

}  // namespace pepe
