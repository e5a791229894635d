// Text from outside, wherever it is shown: nothing of it drives a terminal, forges a line of a message, or becomes a
// script in the plot page.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "e2e/pepe_binary.h"
#include "e2e/terminal.h"
#include "pepe/base/text.h"
#include "pepe/base/utf8.h"
#include "support/certificates.h"
#include "support/temp_dir.h"
#include "support/test_server.h"
#include "support/tls_server.h"

namespace pepe {
namespace {

using testing::HasSubstr;
using testing::Not;

struct HostileText {
  const char* name;
  std::string text;
};

const HostileText kHostile[] = {
    {"EscapeSequence", "\x1b[2J\x1b]0;title\x07"},
    {"C1Control", "\u009b2J"},
    {"C1ControlAsOneByte", "\x9b\x32J"},
    {"CarriageReturn", "fine\rforged"},
    {"Backspaces", "fine\b\b\b\b"},
    {"LineBreak", "fine\nSuccess       [ratio]                           100.00%"},
    {"LineSeparators", "a\u2028b\u2029c\u0085d"},
    {"TurnedText", "a\u202eb\u2066c\u200fd\u061c"},
    {"ScriptEnd", "</script><script>alert(1)</script><!--<script>"},
    {"Attribute", "\"'><img src=x onerror=alert(1)>`${alert(1)}"},
    {"NoUtf8", "\xff\xfe\xc2"},
    {"CutUtf8", "\xe2\x80"},
    {"Formula", "=cmd|'/c calc'!A1"},
};

std::ostream& operator<<(std::ostream& out, const HostileText& row) { return out << row.name; }

/// What of `text` a terminal would obey, or is no UTF-8, with what stands around it; empty: nothing. Line breaks and
/// tabs are layout, and on a terminal each line ends in \r\n.
std::string harm_in(std::string_view text, bool from_terminal = false) {
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = decode_utf8(text.substr(at));
    const char c = text[at];
    const bool layout = c == '\n' || c == '\t' || (from_terminal && text.substr(at).starts_with("\r\n"));
    if (point.bytes == 0 || (drives_terminal(point.value) && !layout))
      return quote(text.substr(at < 40 ? 0 : at - 40, 80));
    at += point.bytes;
  }
  return {};
}

std::string csv_field(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) out.append(c == '"' ? 2 : 1, c);
  return out + '"';
}

/// Two results, as CSV: the text stands in all of their columns that hold text.
std::string results_with(const std::string& text) {
  const std::string field = csv_field(text);
  std::string lines;
  for (const char* code : {"0", "200"}) {
    lines += "1700000000000000000," + std::string{code} + ",1000000,0,2," + (code[0] == '0' ? field : "") + ",b2s=," +
             field + ",0," + field + "," + field + ",\n";
  }
  return lines;
}

/// What a command shows on a terminal, as its standard output.
std::string on_terminal(const std::vector<std::string>& args, const std::string& input = {}) {
  Terminal terminal;
  Launch launch;
  launch.args = args;
  launch.input = input;
  launch.output_descriptor = terminal.device;
  EXPECT_EQ((Process{kPepe, launch}.wait().status), 0);
  return terminal.content();
}

void expect_harmless_in(const TempDir& dir, const std::vector<std::string>& args, const std::string& input = {}) {
  Launch launch;
  launch.args = args;
  launch.input = input;
  launch.directory = dir.path(".");
  const Ended ended = Process{kPepe, launch}.wait();
  EXPECT_EQ(ended.signal, 0);
  EXPECT_EQ(harm_in(ended.out), "") << testing::PrintToString(args);
  EXPECT_EQ(harm_in(ended.err), "") << testing::PrintToString(args);
  EXPECT_THAT(ended.err, Not(HasSubstr("\nSuccess")));
}

class HostileTexts : public testing::TestWithParam<HostileText> {
 protected:
  void expect_harmless(const std::vector<std::string>& args, const std::string& input = {}) const {
    expect_harmless_in(dir_, args, input);
  }

  const std::string& text_ = GetParam().text;
  TempDir dir_;
};

TEST_P(HostileTexts, AreHarmlessInReports) {
  const std::string file = dir_.write("results", results_with(text_));
  for (const char* type : {"text", "json"}) {
    expect_harmless({"report", std::string{"-type="} + type, file});
    for (const char* key : {"target", "attack"})
      expect_harmless(
          {"report", std::string{"-type="} + type, std::string{"-group-by="} + key, "-fail-if=max>0s", file});
  }
  for (const char* type : {"compare", "compare-json"})
    expect_harmless({"report", std::string{"-type="} + type, file, file});
  expect_harmless({"encode", "-to=json", file});
}

TEST_P(HostileTexts, AreHarmlessOnATerminal) {
  const std::string file = dir_.write("results", results_with(text_));
  for (const char* encoding : {"csv", "json", "gob", "msgpack"})
    EXPECT_EQ(harm_in(on_terminal({"encode", std::string{"-to="} + encoding, file}), true), "") << encoding;
  EXPECT_EQ(harm_in(on_terminal({"report", "-group-by=attack", file}), true), "");
}

TEST_P(HostileTexts, AreHarmlessInThePlotPage) {
  const std::string file = dir_.write("results", results_with(text_));
  const std::string usual = run_pepe_binary({"plot", dir_.write("usual", results_with("usual"))}).out;
  const std::string page = run_pepe_binary({"plot", "-title=" + text_, file}).out;
  EXPECT_GT(page.size(), 50'000U);
  EXPECT_EQ(harm_in(page), "");
  // As a text a script may stand there, but not as an element.
  const auto elements = [](std::string text) {
    std::size_t count = 0;
    for (const char* tag : {"<script", "</script", "<img", "<!--"})
      for (std::size_t at = text.find(tag); at != text.npos; at = text.find(tag, at + 1)) ++count;
    return count;
  };
  EXPECT_EQ(elements(page), elements(usual));
}

TEST_P(HostileTexts, AreHarmlessAsInput) {
  expect_harmless({"report"}, text_);
  expect_harmless({"encode"}, text_);
  expect_harmless({"plot"}, text_ + text_);
  expect_harmless({"encode", "-to=json"}, "{\"code\":200,\"error\":\"" + text_ + "\"}\n");
  const auto attack = [&](const char* format, const std::string& list) {
    expect_harmless({"attack", format, "-rate=100", "-duration=10ms", "-output=/dev/null"}, list);
  };
  const std::string target = "GET http://127.0.0.1:1/\n";
  for (const std::string& list : {text_, "GET " + text_, target + text_, target + "A: " + text_ + "\n",
                                  target + text_ + ": A\n", target + "@" + text_ + "\n"})
    attack("-format=http", list);
  for (const std::string& list : {text_, "{\"" + text_ + "\":1}", "{\"method\":\"" + text_ + "\",\"url\":1}",
                                  "{\"method\":\"GET\",\"url\":\"u\",\"header\":{\"" + text_ + "\":1}}"})
    attack("-format=json", list);
}

TEST_P(HostileTexts, AreHarmlessFromAServer) {
  const TestServer server{[this](const TestRequest& request) {
    if (request.target == "/reason") return TestAnswer{.status = 500, .reason = text_};
    if (request.target == "/proxy") return TestAnswer{.status = 407, .reason = text_};
    if (request.target == "/coding") return TestAnswer{.headers = {"Transfer-Encoding: " + text_}};
    if (request.target == "/length") return TestAnswer{.headers = {"Content-Length: " + text_}};
    if (request.target == "/header") return TestAnswer{.headers = {text_ + ": x"}};
    return TestAnswer{.status = 302, .reason = "Found", .headers = {"Location: " + (request.target.substr(1) + text_)}};
  }};
  std::vector<std::string> args{"attack",     "-rate=1000", "-duration=9ms", "-redirects=1", "-resolvers=127.0.0.1:1",
                                "-timeout=5s"};
  std::vector<std::string> urls;
  for (const char* path :
       {"/reason", "/coding", "/length", "/header", "/", "/http://", "/http://127.0.0.1:1/", "/ftp://", "/http://h:"})
    urls.push_back(server.url(path));
  const auto with = [&](std::vector<std::string> more) {
    std::vector<std::string> all = args;
    for (std::string& arg : more) all.push_back(std::move(arg));
    all.insert(all.end(), urls.begin(), urls.end());
    return all;
  };
  EXPECT_EQ(harm_in(on_terminal(with({})), true), "");
  EXPECT_EQ(harm_in(on_terminal(with({"-encoding=csv"})), true), "");
  expect_harmless(with({"-output=/dev/null", "-progress=on"}));
  Launch launch;
  launch.args = {"attack", "-rate=100", "-duration=10ms", "-encoding=json", "https://a.test/"};
  launch.environment = {"HTTPS_PROXY=127.0.0.1:" + std::to_string(server.port())};
  const Ended ended = Process{kPepe, launch}.wait();
  EXPECT_THAT(ended.out, HasSubstr("proxyconnect tcp: "));
  EXPECT_EQ(harm_in(ended.out), "");
  EXPECT_EQ(harm_in(ended.err), "");
}

TEST_P(HostileTexts, AreHarmlessInACertificate) {
  const Identity identity = make_identity({.common_name = "usual", .dns_name = text_});
  const TlsServer server{{.chain = {identity}}};
  const std::string url = "https://127.0.0.1:" + std::to_string(server.port()) + "/";
  const std::string roots = "-root-certs=" + dir_.write("root.pem", certificate_pem(identity));
  const std::string named = "https://a.test:" + std::to_string(server.port()) + "/";
  const std::string there =
      "-connect-to=a.test:" + std::to_string(server.port()) + ":127.0.0.1:" + std::to_string(server.port());
  const std::string shown = on_terminal({"attack", "-rate=100", "-duration=20ms", roots, there, named, url});
  EXPECT_THAT(shown, HasSubstr("x509: certificate is valid for "));
  EXPECT_EQ(harm_in(shown, true), "");
}

// All of them in one: a flag each would be many runs.
TEST(HostileArguments, AreHarmlessInMessages) {
  const TempDir dir;
  std::string text;
  for (const HostileText& row : kHostile) text += row.text;
  expect_harmless_in(dir, {text});
  expect_harmless_in(dir, {"-" + text});
  expect_harmless_in(dir, {"-cpus=" + text});
  for (const char* command : {"attack", "report", "encode", "plot"}) {
    expect_harmless_in(dir, {command, text});
    expect_harmless_in(dir, {command, "-" + text});
    for (const std::string& flag : declared_flags(run_pepe_binary({command, "-h"}).err)) {
      if (flag != "-laddr") expect_harmless_in(dir, {command, flag + "=" + text});  // which is looked up as a name
    }
  }
  expect_harmless_in(dir, {"attack", "-rate=100", "-duration=20ms", "-output=/dev/null", "http://127.0.0.1:1/" + text});
  expect_harmless_in(dir,
                     {"attack", "-rate=100", "-duration=20ms", "-output=/dev/null", "http://127.0.0.1:1/", "-" + text});
}

INSTANTIATE_TEST_SUITE_P(All, HostileTexts, testing::ValuesIn(kHostile),
                         [](const testing::TestParamInfo<HostileText>& row) { return std::string{row.param.name}; });

}  // namespace
}  // namespace pepe
