#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "cli/input_file.h"
#include "cli/output_file.h"
#include "support/temp_dir.h"

namespace pepe {
namespace {

TEST(InputFile, IsReadWhole) {
  const TempDir dir;
  const std::string content(200'000, 'x');
  auto file = InputFile::open(dir.write("in", content));
  ASSERT_TRUE(file);
  const auto bytes = file->read_all();
  ASSERT_TRUE(bytes);
  EXPECT_EQ(*bytes, content);
  EXPECT_EQ(file->bytes_read(), content.size());
}

TEST(InputFile, NamesTheFileThatIsMissing) {
  const auto file = InputFile::open("/nonexistent/x");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().text(), "open /nonexistent/x: no such file or directory");
  const auto path = InputFile::open_path("/nonexistent/x");
  ASSERT_FALSE(path);
  EXPECT_EQ(path.error().text(), "open /nonexistent/x: no such file or directory");
}

TEST(InputFile, IsNotTheOneWhoseNameANulCutsShort) {
  const TempDir dir;
  const std::string path = dir.write("in", "other");
  const auto file = InputFile::open_path(path + std::string{"\0.txt", 5});
  ASSERT_FALSE(file);
  EXPECT_THAT(file.error().text(), testing::EndsWith(": invalid argument"));
}

TEST(InputFile, NamesTheDirectoryThatCannotBeRead) {
  const TempDir dir;
  auto file = InputFile::open(dir.path("."));
  ASSERT_TRUE(file);
  EXPECT_FALSE(file->failed());
  EXPECT_FALSE(file->read_all());
  EXPECT_TRUE(file->failed());
}

/// A named pipe, open at both ends, so that reading it waits.
struct Pipe {
  TempDir dir;
  std::string name{dir.path("pipe")};
  int writer{-1};

  Pipe() {
    EXPECT_EQ(::mkfifo(name.c_str(), 0600), 0);
    writer = ::open(name.c_str(), O_RDWR | O_CLOEXEC);
  }
  ~Pipe() { ::close(writer); }
};

TEST(InputFile, AsksItsOwnerWhileItWaits) {
  const Pipe pipe;
  auto file = InputFile::open(pipe.name);
  ASSERT_TRUE(file);
  int asked = 0;
  int waited = 0;
  ReadHooks hooks;
  hooks.before_wait = [&waited]() -> Expected<void> {
    ++waited;
    return {};
  };
  hooks.before_read = [&]() -> Expected<std::optional<Nanos>> {
    if (++asked == 3) {
      EXPECT_EQ(::write(pipe.writer, "hi", 2), 2);
    }
    return std::optional<Nanos>{std::chrono::milliseconds{1}};
  };
  std::array<char, 8> buffer{};
  const auto got = file->read(buffer, hooks);
  ASSERT_TRUE(got);
  EXPECT_EQ((std::string_view{buffer.data(), *got}), "hi");
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(waited, 2);
}

TEST(InputFile, EndsWithTheErrorOfItsOwner) {
  const Pipe pipe;
  auto file = InputFile::open(pipe.name);
  ASSERT_TRUE(file);
  ReadHooks hooks;
  hooks.before_wait = []() -> Expected<void> { return Error{"enough"}; };
  std::array<char, 8> buffer{};
  const auto got = file->read(buffer, hooks);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().text(), "enough");
}

TEST(InputFile, EndsWhenItIsCancelled) {
  const Pipe pipe;
  auto file = InputFile::open(pipe.name);
  ASSERT_TRUE(file);
  std::array<int, 2> cancel{};
  ASSERT_EQ(::pipe(cancel.data()), 0);
  std::thread canceller{[&cancel] { EXPECT_EQ(::write(cancel[1], "x", 1), 1); }};
  std::array<char, 8> buffer{};
  const auto got = file->read(buffer, ReadHooks{.before_read = {}, .before_wait = {}, .cancel = cancel[0]});
  canceller.join();
  ASSERT_TRUE(got);
  EXPECT_EQ(*got, 0U);
  for (const int end : cancel) ::close(end);
}

TEST(InputFile, EndsWhenItIsCancelledBeforeAnyoneWritesToIt) {
  const TempDir dir;
  const std::string name = dir.path("pipe");
  ASSERT_EQ(::mkfifo(name.c_str(), 0600), 0);
  auto file = InputFile::open_path(name);
  ASSERT_TRUE(file);
  std::array<int, 2> cancel{};
  ASSERT_EQ(::pipe(cancel.data()), 0);
  ASSERT_EQ(::write(cancel[1], "x", 1), 1);
  const auto got = file->read_all(ReadHooks{.before_read = {}, .before_wait = {}, .cancel = cancel[0]});
  ASSERT_TRUE(got);
  EXPECT_EQ(*got, "");
  for (const int end : cancel) ::close(end);
}

TEST(InputFile, WaitsForWhoeverWritesToIt) {
  const TempDir dir;
  const std::string name = dir.path("pipe");
  ASSERT_EQ(::mkfifo(name.c_str(), 0600), 0);
  auto file = InputFile::open_path(name);
  ASSERT_TRUE(file);
  std::thread writer{[&name] {
    const int pipe = ::open(name.c_str(), O_WRONLY | O_CLOEXEC);
    EXPECT_EQ(::write(pipe, "late", 4), 4);
    ::close(pipe);
  }};
  const auto got = file->read_all();
  writer.join();
  ASSERT_TRUE(got);
  EXPECT_EQ(*got, "late");
}

TEST(InputFile, IsNotReadWithoutEnd) {
  auto file = InputFile::open_path("/dev/zero");
  ASSERT_TRUE(file);
  const auto got = file->read_all({}, 100'000);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().text(), "read /dev/zero: it is too large: want at most 100000 bytes");
}

TEST(OutputFile, ReplacesWhatWasThere) {
  const TempDir dir;
  auto file = OutputFile::open(dir.write("out", "something old and long"));
  ASSERT_TRUE(file);
  EXPECT_TRUE(file->write("new"));
  EXPECT_TRUE(file->write(""));
  EXPECT_TRUE(file->close());
  EXPECT_EQ(dir.read("out"), "new");
}

TEST(OutputFile, LeavesAnInputAlone) {
  const TempDir dir;
  const std::string path = dir.write("both", "precious");
  ASSERT_EQ(::symlink(path.c_str(), dir.path("link").c_str()), 0);
  const auto input = InputFile::open(path);
  ASSERT_TRUE(input);
  const std::array inputs{input->id()};
  for (const std::string& name : {path, dir.path("link")}) {
    const auto output = OutputFile::open(name, inputs);
    ASSERT_FALSE(output);
    EXPECT_EQ(output.error().text(), "open " + name + ": it is one of the inputs as well");
  }
  EXPECT_EQ(dir.read("both"), "precious");
}

TEST(OutputFile, NamesTheFolderThatIsMissing) {
  const auto file = OutputFile::open("/nonexistent/x");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().text(), "open /nonexistent/x: no such file or directory");
}

TEST(OutputFile, SaysThatTheDeviceIsFull) {
  auto file = OutputFile::open("/dev/full");
  ASSERT_TRUE(file);
  const auto written = file->write("x");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().text(), "write /dev/full: no space left on device");
}

TEST(OutputFile, IsWrittenWholeToASlowPipe) {
  const Pipe pipe;
  auto file = OutputFile::open(pipe.name);
  ASSERT_TRUE(file);
  const std::string content(1'000'000, 'x');
  std::size_t got = 0;
  std::thread reader{[&] {
    std::array<char, 4096> buffer{};
    while (got < content.size()) {
      const ssize_t size = ::read(pipe.writer, buffer.data(), buffer.size());
      if (size <= 0) break;
      got += static_cast<std::size_t>(size);
    }
  }};
  EXPECT_TRUE(file->write(content));
  reader.join();
  EXPECT_EQ(got, content.size());
}

}  // namespace
}  // namespace pepe
