#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

namespace pepe {

/// A terminal with nobody in front of it.
struct Terminal {
  int screen{-1};  ///< What is written to `device` is read here.
  int device{-1};

  Terminal() {
    screen = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    EXPECT_EQ(::grantpt(screen), 0);
    EXPECT_EQ(::unlockpt(screen), 0);
    device = ::open(::ptsname(screen), O_RDWR | O_NOCTTY | O_CLOEXEC);
    EXPECT_GE(device, 0);
  }
  ~Terminal() { ::close(screen); }

  /// All that was written, once the last program that had it open has ended.
  std::string content() {
    ::close(device);
    std::string text;
    std::array<char, 4096> buffer{};
    ssize_t got = 0;
    while ((got = ::read(screen, buffer.data(), buffer.size())) > 0) {
      text.append(buffer.data(), static_cast<std::size_t>(got));
    }
    return text;
  }
};

}  // namespace pepe
