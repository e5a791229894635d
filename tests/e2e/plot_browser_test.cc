// Opens the page in a headless Chromium and asks the chart itself what it has drawn.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "pepe/plot/plot.h"

namespace pepe {
namespace {

// Goes in front of all scripts of the page: whatever fails there is kept.
constexpr std::string_view kBefore = R"html(<script>
window.failures = [];
for (const name of ["error", "warn"]) console[name] = (...what) => failures.push(name + " " + what.join(" "));
addEventListener("error", (event) => failures.push(event.message));
addEventListener("securitypolicyviolation", (event) => failures.push("refused " + event.blockedURI));
</script>
)html";

// Goes behind them: works the page as a reader would, and writes what came of it into the document.
constexpr std::string_view kAfter = R"html(<pre id="probe"></pre>
<script>
addEventListener("load", () => setTimeout(() => {
  const lines = [];
  const say = (name, value) => lines.push(name + "=" + value);
  const click = (element, options) => element.dispatchEvent(new MouseEvent("click", { bubbles: true, ...options }));
  const byId = (id) => document.getElementById(id);
  try {
    const graph = window.pepeGraph;
    say("title", document.title);
    say("labels", graph.getLabels().join("|"));
    say("rows", graph.numRows());
    say("drawn", graph.layout_.points.map((points) => points.filter((p) => p.yval !== null && !isNaN(p.yval)).length).join("|"));
    say("first", graph.layout_.points.map((points) => { const p = points.find((q) => q.yval); return p.xval + ":" + p.yval; }).join("|"));
    const canvas = document.querySelector("#chart canvas");
    const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    say("painted", pixels.some((value) => value !== 0));
    say("log", graph.getOption("logscale"));
    click(byId("log"));
    say("log_after", graph.getOption("logscale"));
    graph.updateOptions({ dateWindow: [0.1, 0.2] });
    say("zoomed", graph.isZoomed("x"));
    click(byId("reset"));
    say("zoomed_after", graph.isZoomed("x"));
    const theme = document.documentElement.dataset.theme;
    click(byId("theme"));
    say("theme_changed", document.documentElement.dataset.theme !== theme);
    const legend = [...document.querySelectorAll("#legend button")];
    say("legend", legend.map((entry) => entry.querySelector(".label").textContent).join("|"));
    graph.setSelection(50, "new: OK", false, true);
    say("nearest", [...document.querySelectorAll("#legend .nearest .label")].map((label) => label.textContent).join("|"));
    click(legend[0]);
    say("hidden", graph.visibility().join("|"));
    click(legend[0], { shiftKey: true });
    say("alone", graph.visibility().join("|"));
    HTMLAnchorElement.prototype.click = function () { say("saved", this.download); };
    click(byId("png"));
  } catch (error) {
    failures.push(String(error));
  }
  setTimeout(() => {
    say("failures", failures.join("; "));
    byId("probe").textContent = lines.join("\n") + "\n";
  }, 1000);
}, 200));
</script>
)html";

std::string run(const std::string& command) {
  std::string out;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return out;
  std::array<char, 4096> buffer{};
  for (std::size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) out.append(buffer.data(), n);
  pclose(pipe);
  return out;
}

std::string find_browser() {
  std::string path = run("command -v chromium chromium-browser google-chrome 2>/dev/null");
  return path.substr(0, path.find('\n'));
}

class TempDir {
 public:
  TempDir() {
    std::string name = (std::filesystem::temp_directory_path() / "pepe-plot-XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~TempDir() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

using Answers = std::map<std::string, std::string>;

// Names and values that the probe wrote, with the entities of the dumped document undone.
Answers answers_in(const std::string& document) {
  Answers answers;
  const std::string start = "<pre id=\"probe\">";
  const std::size_t begin = document.find(start);
  if (begin == std::string::npos) return answers;
  const std::size_t end = document.find("</pre>", begin);
  std::istringstream lines{document.substr(begin + start.size(), end - begin - start.size())};
  for (std::string line; std::getline(lines, line);) {
    for (const auto& [entity, text] : {std::pair{"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}}) {
      for (std::size_t at = line.find(entity); at != std::string::npos; at = line.find(entity, at + 1)) {
        line.replace(at, std::string_view{entity}.size(), text);
      }
    }
    answers[line.substr(0, line.find('='))] = line.substr(line.find('=') + 1);
  }
  return answers;
}

Answers open_in_browser(const std::string& browser, std::string page) {
  const TempDir dir;
  page.insert(page.find("<script>"), kBefore);
  page.insert(page.rfind("</body>"), kAfter);
  std::ofstream{dir.path() + "/plot.html", std::ios::binary} << page;
  return answers_in(
      run(fmt::format("timeout 120 {0} --headless --no-sandbox --disable-gpu --disable-quic --no-first-run "
                      "--disable-background-networking "
                      "--disable-component-update --disable-sync --user-data-dir={1}/profile --window-size=1200,800 "
                      "--virtual-time-budget=10000 --dump-dom file://{1}/plot.html 2>/dev/null",
                      browser, dir.path())));
}

Result hit(std::string_view attack, std::uint64_t seq, std::int64_t latency_ms, std::string_view error = "") {
  Result result;
  result.attack = attack;
  result.seq = seq;
  result.timestamp.unix_nanos = 1'700'000'000'000'000'000 + static_cast<std::int64_t>(seq) * 10'000'000;
  result.latency = std::chrono::milliseconds{latency_ms};
  result.error = error;
  return result;
}

class PlotInABrowser : public testing::Test {
 protected:
  void SetUp() override {
    browser_ = find_browser();
    if (browser_.empty()) GTEST_SKIP() << "no chromium here: the page was not opened";
  }
  std::string browser_;
};

TEST_F(PlotInABrowser, DrawsEverySeriesAndAnswersToItsButtons) {
  PlotOptions options;
  options.title = "Run 7 & <b>";
  Plot plot{std::move(options)};
  for (std::uint64_t seq = 0; seq < 100; ++seq) {
    plot.add(hit("</script><i>", seq, 5 + static_cast<std::int64_t>(seq % 7), seq % 10 == 9 ? "EOF" : ""));
    plot.add(hit("new", seq, 3));
  }
  std::string page;
  ASSERT_TRUE(plot.write(page));
  Answers answers = open_in_browser(browser_, std::move(page));
  ASSERT_FALSE(answers.empty()) << "the browser gave no answer";
  EXPECT_EQ(answers["failures"], "");
  EXPECT_EQ(answers["title"], "Run 7 & <b>");
  EXPECT_EQ(answers["labels"], "Seconds|</script><i>: ERROR|</script><i>: OK|new: OK");
  EXPECT_EQ(answers["legend"], "</script><i>: ERROR|</script><i>: OK|new: OK");
  EXPECT_EQ(answers["rows"], "100");
  EXPECT_EQ(answers["drawn"], "10|90|100");
  EXPECT_EQ(answers["first"], "0.09:7|0:5|0:3");
  EXPECT_EQ(answers["painted"], "true");
  EXPECT_EQ(answers["log"], "true");
  EXPECT_EQ(answers["log_after"], "false");
  EXPECT_EQ(answers["zoomed"], "true");
  EXPECT_EQ(answers["zoomed_after"], "false");
  EXPECT_EQ(answers["theme_changed"], "true");
  EXPECT_EQ(answers["nearest"], "new: OK");
  EXPECT_EQ(answers["hidden"], "false|true|true");
  EXPECT_EQ(answers["alone"], "true|false|false");
  EXPECT_EQ(answers["saved"], "plot.png");
}

TEST_F(PlotInABrowser, DrawsTwentySeries) {
  Plot plot{PlotOptions{}};
  for (std::uint64_t i = 0; i < 20'000; ++i)
    plot.add(hit(fmt::format("build {:02}", i % 20), i / 20, 1 + static_cast<std::int64_t>(i % 90)));
  std::string page;
  ASSERT_TRUE(plot.write(page));
  Answers answers = open_in_browser(browser_, std::move(page));
  ASSERT_FALSE(answers.empty()) << "the browser gave no answer";
  EXPECT_EQ(answers["failures"], "");
  EXPECT_EQ(answers["rows"], "1000");
  EXPECT_EQ(answers["drawn"].substr(0, 10), "1000|1000|");
}

}  // namespace
}  // namespace pepe
