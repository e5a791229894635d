#pragma once

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace pepe {

/// Expects `bytes` to be exactly the file tests/golden/<name>. With PEPE_UPDATE_GOLDENS set, writes that file instead.
inline void expect_golden(const std::string& name, std::string_view bytes) {
  SCOPED_TRACE(name);
  const std::string path = std::string{PEPE_SOURCE_DIR} + "/tests/golden/" + name;
  if (std::getenv("PEPE_UPDATE_GOLDENS") != nullptr) {
    std::ofstream{path, std::ios::binary}.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  std::ifstream file{path, std::ios::binary};
  ASSERT_TRUE(file) << "no file " << path;
  const std::string want{std::istreambuf_iterator<char>{file}, {}};
  EXPECT_EQ(bytes, want);
}

}  // namespace pepe
