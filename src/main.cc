#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/exit_status.h"

int main(int argc, char** argv) {
  // pepe throws nowhere; what comes here is a library's or the lack of memory.
  try {
    const std::vector<std::string> args(argv + (argc > 0 ? 1 : 0), argv + argc);
    return pepe::run_pepe(args);
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "pepe: out of memory\n");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "pepe: %s\n", error.what());
  }
  return pepe::kExitFailure;
}
