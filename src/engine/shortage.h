#pragma once

#include <exception>
#include <new>
#include <string_view>
#include <thread>
#include <utility>

#include "pepe/base/expected.h"

namespace pepe {

/// What a library has thrown for want of memory, descriptors or threads, as one line: `what` and the cause.
/// REQUIRES: called within a catch block.
Error shortage_error(std::string_view what);

/// The same for an errno.
Error system_shortage(std::string_view what, int errno_value);

/// What a C library could not make for want of memory, in a constructor: as new would have it, since what catches that
/// is there. The only throw of pepe's own.
inline void require_memory(bool made) {
  if (!made) [[unlikely]]
    throw std::bad_alloc{};
}

/// Runs `run` on a thread of its own. Error: there is no room for another one.
template <class Run>
Expected<std::thread> start_thread(Run run) {
  try {
    return std::thread{std::move(run)};
  } catch (const std::exception&) {
    return shortage_error("cannot start a thread");
  }
}

}  // namespace pepe
