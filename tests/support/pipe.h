#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace pepe {

/// A pipe that a program reads or writes; both ends are the test's.
struct Pipe {
  int read_end{-1};
  int write_end{-1};

  Pipe() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    read_end = ends[0];
    write_end = ends[1];
  }
  ~Pipe() {
    close_end(read_end);
    close_end(write_end);
  }
  static void close_end(int& end) {
    if (end >= 0) ::close(std::exchange(end, -1));
  }
  void send(std::string_view bytes) const {
    EXPECT_EQ(::write(write_end, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  /// What comes until `mark` was seen, or the end.
  std::string read_until(std::string_view mark) const {
    std::string text;
    std::array<char, 4096> buffer{};
    while (text.find(mark) == std::string::npos) {
      const ssize_t got = ::read(read_end, buffer.data(), buffer.size());
      if (got <= 0) break;
      text.append(buffer.data(), static_cast<std::size_t>(got));
    }
    return text;
  }
};

}  // namespace pepe
