#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/exit_status.h"

namespace {

std::terminate_handler usual_end = nullptr;
bool main_runs = false;

bool has_memory() {
  constexpr std::size_t kExceptionBytes = 1024;
  void* volatile memory = std::malloc(kExceptionBytes);
  std::free(memory);
  return memory != nullptr;
}

// Libraries have globals that need memory before main() can catch anything; and without memory for the exception
// there is nothing to catch.
void end_for_want_of_memory() {
  const bool before_main = !main_runs;
  const bool nothing_to_throw = std::current_exception() == nullptr && !has_memory();
  if (!before_main && !nothing_to_throw) usual_end();
  std::fputs("pepe: out of memory\n", stderr);
  std::_Exit(pepe::kExitFailure);
}

[[gnu::constructor(101)]] void await_want_of_memory() { usual_end = std::set_terminate(end_for_want_of_memory); }

}  // namespace

int main(int argc, char** argv) {
  main_runs = true;
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
