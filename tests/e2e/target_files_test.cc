// Lists of targets that are broken, foreign or large, given to the binary by each way and read in each way.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "e2e/pepe_binary.h"
#include "support/temp_dir.h"
#include "support/test_server.h"

namespace pepe {
namespace {

using namespace std::string_literals;
using testing::IsEmpty;
using testing::UnorderedElementsAreArray;

/// One way to give a list to the binary.
struct Way {
  const char* name;
  bool lazy;
  bool file;
};

// Under a sanitizer each run takes long: two ways show each list by either reading, from either source.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr Way kWays[] = {{"StdinEager", false, false}, {"FileLazy", true, true}};
#else
constexpr Way kWays[] = {
    {"StdinEager", false, false}, {"StdinLazy", true, false}, {"FileEager", false, true}, {"FileLazy", true, true}};
#endif

/// As many hits as the list has targets: a lazy run ends with its list.
std::vector<std::string> once_through(const Way& way, std::size_t targets) {
  return {"-rate=100", way.lazy ? "-duration=0" : fmt::format("-duration={}ms", 10 * targets)};
}

/// `text` with each `mark` replaced.
std::string replaced(std::string text, std::string_view mark, std::string_view by) {
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + by.size()))
    text.replace(at, mark.size(), by);
  return text;
}

/// `list` with the server's URL for $U and 10 MB for $X.
std::string spelled_out(const std::string& list, const std::string& url) {
  constexpr std::size_t kLong = std::size_t{10} << 20;
  return replaced(replaced(list, "$U", url), "$X", std::string(kLong, 'x'));
}

/// Attacks the targets of `list` from within `dir`: as a file "list", or through standard input. `most_kilobytes` of
/// memory, but not under a sanitizer, which takes terabytes of addresses.
Ended attack_list(const TempDir& dir, const Way& way, const char* format, const std::string& list,
                  const std::vector<std::string>& more, int most_kilobytes = 400'000) {
  Launch launch;
  launch.directory = dir.path("");
  std::string command = "exec " + kPepe + " attack -output=out -format=" + format;
  for (const std::string& flag : more) command += " " + flag;
  if (way.lazy) command += " -lazy";
  if (way.file) {
    dir.write("list", list);
    command += " -targets=list";
  } else {
    launch.input = list;
  }
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  command = fmt::format("ulimit -v {} && ", most_kilobytes) + command;
#else
  static_cast<void>(most_kilobytes);
#endif
  launch.args = {"-c", command};
  return Process{"/bin/sh", launch}.wait();
}

struct RefusedCase {
  const char* name;
  const char* format;
  std::string list;  ///< U: the server's URL.
  std::string want;  ///< The failure without its date. L: the list's name.
};

constexpr const char* kMethodHint =
    ": want METHOD URL, such as GET http://127.0.0.1:8080/ (a method is capital letters, one blank follows it)";
constexpr const char* kWantObject =
    R"($L:1: parse error: want one object a line, such as {"method": "GET", "url": "http://127.0.0.1:8080/"})";
constexpr const char* kUtf16 = "$L:1: the list is UTF-16 text (it begins with a byte order mark): save it as UTF-8";

const RefusedCase kRefusedCases[] = {
    {"HttpEmpty", "http", "", "no targets to attack"},
    {"HttpOnlyBlanks", "http", " \n\t\n  \r\n \v", "no targets to attack"},
    {"HttpOnlyAComment", "http", "# GET $U", "no targets to attack"},
    {"HttpBinary", "http",
     "\x7f"
     "ELF\2\1\1\0\0 \xff\xfe\n"s,
     "$L:1: bad method: \\x7fELF\\x02\\x01\\x01\\x00\\x00"s + kMethodHint},
    {"HttpNulBytes", "http", std::string(5, '\0'),
     "$L:1: bad target: \\x00\\x00\\x00\\x00\\x00: want METHOD URL, such as GET http://127.0.0.1:8080/"},
    {"HttpUtf16", "http", "\xFF\xFEG\0E\0T\0"s, kUtf16},
    {"HttpUtf16WithoutAMark", "http", "G\0E\0T\0 \0"s, "$L:1: bad method: G\\x00E\\x00T\\x00"s + kMethodHint},
    {"HttpTwoByteOrderMarks", "http", "\xEF\xBB\xBF\xEF\xBB\xBFGET $U\n",
     "$L:1: bad method: \\ufeffGET"s + kMethodHint},
    {"HttpNulInAMethod", "http", "GE\0T $U\n"s, "$L:1: bad method: GE\\x00T"s + kMethodHint},
    {"HttpCarriageReturnInAMethod", "http", "GE\rT $U\n", "$L:1: bad method: GE\\rT"s + kMethodHint},
    {"HttpNulInAUrl", "http", "GET http://h/a\0b\n"s,
     R"($L:1: bad URL: http://h/a\x00b, parse "http://h/a\x00b": net/url: invalid control character in URL)"},
    {"HttpNulBehindAUrl", "http", "GET http://h/\0\n"s,
     R"($L:1: bad URL: http://h/\x00, parse "http://h/\x00": net/url: invalid control character in URL)"},
    {"HttpOnlyCarriageReturns", "http", "GET http://h/\rX-A: b\r\rGET http://h/\r",
     R"($L:1: bad URL: http://h/\rX-A: b\r\rGET http://h/, parse "http://h/\rX-A: b\r\rGET http://h/": net/url: invalid control character in URL)"},
    {"HttpNulInAHeaderName", "http", "GET $U\nX\0A: b\n"s,
     "$L:2: bad header: X\\x00A:: the name holds a character that no header name may have"},
    {"HttpCarriageReturnInAHeaderName", "http", "GET $U\nX\rA: b\n",
     "$L:2: bad header: X\\rA:: the name holds a character that no header name may have"},
    {"HttpNulInAHeaderValue", "http", "GET $U\nX-A: b\0c\n"s,
     "$L:2: bad header: X-A: the value holds a control character"},
    {"HttpCarriageReturnInAHeaderValue", "http", "GET $U\r\nX-A: b\rX-B: c\r\n",
     "$L:2: bad header: X-A: the value holds a control character"},
    {"HttpMissingBody", "http", "POST $U\n@nope\n", "$L:2: bad body: open nope: no such file or directory"},
    {"HttpDirectoryAsBody", "http", "POST $U\n@.\n", "$L:2: bad body: read .: is a directory"},
    {"HttpNamelessBody", "http", "POST $U\n@\n", "$L:2: bad body: open : no such file or directory"},
    {"HttpNulInABodyName", "http", "POST $U\n@body\0.txt"s, "$L:2: bad body: open body\\x00.txt: invalid argument"},
    {"JsonEmpty", "json", "", "no targets to attack"},
    {"JsonOnlyBlanks", "json", " \n\t\n  \r\n", "no targets to attack"},
    {"JsonBinary", "json",
     "\x7f"
     "ELF\2\1"s,
     kWantObject + R"( near offset 0 of '\x7fELF\x02\x01')"s},
    {"JsonNulBytes", "json", std::string(5, '\0'), kWantObject + R"( near offset 0 of '\x00\x00\x00\x00\x00')"s},
    {"JsonUtf16", "json", "\xFF\xFE{\0"s, kUtf16},
    {"JsonNul", "json", "{\"method\":\"GET\",\"url\":\"http://h/\0\"}"s,
     "$L:1: parse error: missing a closing quotation mark in string near offset 32 of '...'"},
    {"JsonLineBreakInAMethod", "json", R"({"method":"GET / HTTP/1.1\r\nX: y","url":"$U"})",
     R"($L:1: bad method: GET / HTTP/1.1\r\nX: y: it holds a control character)"},
    {"JsonNulInAMethod", "json", R"({"method":"G\u0000T","url":"$U"})",
     R"($L:1: bad method: G\x00T: it holds a control character)"},
    {"JsonLineBreakInAUrl", "json", R"({"method":"GET","url":"http://h/\r\nX: y"})",
     R"($L:1: bad URL: http://h/\r\nX: y, parse "http://h/\r\nX: y": net/url: invalid control character in URL)"},
    {"JsonNulInAUrl", "json", R"({"method":"GET","url":"http://h/\u0000"})",
     R"($L:1: bad URL: http://h/\x00, parse "http://h/\x00": net/url: invalid control character in URL)"},
    {"JsonLineBreakInAHeaderName", "json", R"({"method":"GET","url":"$U","header":{"X\nY":["1"]}})",
     R"($L:1: bad header: X\nY: the name holds a control character)"},
    {"JsonNulInAHeaderName", "json", R"({"method":"GET","url":"$U","header":{"X\u0000":["1"]}})",
     R"($L:1: bad header: X\x00: the name holds a control character)"},
    {"JsonLineBreakInAHeaderValue", "json", R"({"method":"GET","url":"$U","header":{"X":["1","2\r\nY: 3"]}})",
     "$L:1: bad header: X: the value holds a control character"},
    {"JsonCarriageReturnInAHeaderValue", "json", R"({"method":"GET","url":"$U","header":{"X":["1\r"]}})",
     "$L:1: bad header: X: the value holds a control character"},
    {"JsonNulInAHeaderValue", "json", R"({"method":"GET","url":"$U","header":{"X":["\u0000"]}})",
     "$L:1: bad header: X: the value holds a control character"},
    {"JsonObjectWithoutEnd", "json", R"({"a":"$X)",
     "$L:1: parse error: the object does not end on its line: want one object a line (jq -c . writes them so) near "
     "offset "
     "10485766 of '...'"},
};

/// A failure's line without its date and its end.
std::string failure_of(const std::string& err) {
  constexpr std::size_t kDateBytes = sizeof "2026/01/01 00:00:00 " - 1;
  return err.size() > kDateBytes && err.ends_with('\n') ? err.substr(kDateBytes, err.size() - kDateBytes - 1) : err;
}

TEST(TargetFiles, AreRefusedBeforeTheFirstHit) {
  const TestServer server;
  for (const RefusedCase& row : kRefusedCases) {
    const TempDir dir;
    dir.write("body", "");  // which a name that a NUL cuts short must not mean
    for (const Way& way : kWays) {
      SCOPED_TRACE(row.name + " "s + way.name);
      const Ended ended = attack_list(dir, way, row.format, spelled_out(row.list, server.url()), once_through(way, 2));
      EXPECT_EQ(ended.status, 1);
      EXPECT_THAT(ended.out, IsEmpty());
      EXPECT_EQ(failure_of(ended.err), replaced(row.want, "$L", way.file ? "list" : "stdin"));
    }
  }
  EXPECT_THAT(server.requests(), IsEmpty());
}

struct UsedCase {
  const char* name;
  const char* format;
  std::string list;                ///< Not spelled out; $U has no path.
  std::vector<std::string> asked;  ///< What a run of as many hits asks for: path, value of X-A, body.
};

const UsedCase kUsedCases[] = {
    {"HttpNoFinalNewline", "http", "GET $U/a\n\nGET $U/b\nX-A: 1", {"/a", "/b 1"}},
    {"HttpWindowsLineEnds", "http", "GET $U/a\r\nX-A: 1\r\n\r\nPUT $U/b\r\n@body\r\n", {"/a 1", "/b one"}},
    {"HttpByteOrderMark", "http", "\xEF\xBB\xBFGET $U/a\r\n", {"/a"}},
    {"HttpBytesOutsideAscii", "http", "GET $U/\xC3\xA9\xFF\nX-A: \xC3\xA9\n", {"/%C3%A9%FF \xC3\xA9"}},
    {"HttpLongComment", "http", "GET $U/a\n\n# $X\nGET $U/b\n", {"/a", "/b"}},
    {"JsonNoFinalNewline", "json", R"({"method":"GET","url":"$U/a"})", {"/a"}},
    {"JsonWindowsLineEnds",
     "json",
     "{\"method\":\"GET\",\"url\":\"$U/a\"}\r\n\r\n{\"method\":\"GET\",\"url\":\"$U/b\"}\r\n",
     {"/a", "/b"}},
    {"JsonByteOrderMark",
     "json",
     "\xEF\xBB\xBF{\"method\":\"GET\",\"url\":\"$U/a\",\"header\":{\"X-A\":[\"1\"]}}",
     {"/a 1"}},
    {"JsonEscapes", "json", R"({"method":"GET","url":"$U/\u00e9","header":{"X-A":["a\tb"]}})", {"/%C3%A9 a\tb"}},
    {"JsonLongField",
     "json",
     "{\"method\":\"GET\",\"url\":\"$U/a\",\"note\":\"$X\"}\n{\"method\":\"GET\",\"url\":\"$U/b\"}",
     {"/a", "/b"}},
};

TEST(TargetFiles, AreUsedHoweverTheyAreWritten) {
  for (const UsedCase& row : kUsedCases) {
    for (const Way& way : kWays) {
      SCOPED_TRACE(row.name + " "s + way.name);
      const TempDir dir;
      dir.write("body", "one");
      const TestServer server;
      const Ended ended =
          attack_list(dir, way, row.format, spelled_out(row.list, server.url("")), once_through(way, row.asked.size()));
      EXPECT_EQ(ended.status, 0) << ended.err;
      std::vector<std::string> asked;
      for (const TestRequest& request : server.requests()) {
        asked.push_back(request.target);
        for (const std::string& part : {request.header("X-A"), request.body})
          if (!part.empty()) asked.back() += " " + part;
      }
      EXPECT_THAT(asked, UnorderedElementsAreArray(row.asked));
    }
  }
}

TEST(TargetFiles, OfAHundredThousandTargetsAreTakenInTurn) {
  const TestServer server;
  std::string list;
  for (int i = 0; i < 100'000; ++i) list += fmt::format("GET {}t{}\n\n", server.url(), i);
  for (const Way& way : kWays) {
    SCOPED_TRACE(way.name);
    const TempDir dir;
    const std::size_t before = server.requests().size();
    const Ended ended = attack_list(dir, way, "http", list, {"-rate=0", "-max-workers=1", "-duration=50ms"},
                                    way.lazy ? 50'000 : 200'000);
    EXPECT_EQ(ended.status, 0) << ended.err;
    const auto requests = server.requests();
    ASSERT_GT(requests.size(), before);
    for (std::size_t i = before; i < requests.size(); ++i)
      ASSERT_EQ(requests[i].target, fmt::format("/t{}", i - before));
  }
}

TEST(TargetFiles, EndAtALineWithoutEnd) {
  const TempDir dir;
  std::filesystem::resize_file(dir.write("list", "GET http://h/"), std::size_t{65} << 20);
  for (const bool file : {true, false}) {
    Launch launch;
    launch.directory = dir.path("");
    launch.args = {"attack", "-output=out"};
    if (file) launch.args.emplace_back("-targets=list");
    launch.input_descriptor = ::open(dir.path("list").c_str(), O_RDONLY | O_CLOEXEC);
    const Ended ended = Process{kPepe, launch}.wait();
    ::close(launch.input_descriptor);
    EXPECT_EQ(ended.status, 1);
    EXPECT_EQ(failure_of(ended.err), (file ? "list"s : "stdin"s) + ":1: the line is too long: want at most 64 MB");
  }
}

TEST(TargetFiles, MayNameABodyThatIsAPipe) {
  const TestServer server;
  for (const Way& way : kWays) {
    SCOPED_TRACE(way.name);
    const TempDir dir;
    ASSERT_EQ(::mkfifo(dir.path("pipe").c_str(), 0600), 0);
    std::thread writer{[&dir] {
      const int pipe = ::open(dir.path("pipe").c_str(), O_WRONLY | O_CLOEXEC);
      EXPECT_EQ(::write(pipe, "late", 4), 4);
      ::close(pipe);
    }};
    const std::size_t before = server.requests().size();
    const Ended ended = attack_list(dir, way, "http", "PUT " + server.url() + "\n@pipe\n", once_through(way, 1));
    writer.join();
    EXPECT_EQ(ended.status, 0) << ended.err;
    ASSERT_GT(server.requests().size(), before);
    EXPECT_EQ(server.requests()[before].body, "late");
  }
}

}  // namespace
}  // namespace pepe
