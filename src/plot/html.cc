#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "pepe/base/json.h"
#include "pepe/base/text.h"
#include "pepe/plot/plot.h"
#include "plot/assets.h"
#include "plot/rows.h"
#include "plot/series.h"

namespace pepe {
namespace {

constexpr std::int64_t kMinThreshold = 3;
constexpr std::int64_t kMaxThreshold = std::int64_t{1} << 40;  // more points than memory has room for

// The policy forbids what the page does not do anyway: fetching anything from anywhere.
constexpr std::string_view kHeadStart = R"html(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:">
<link rel="icon" href="data:,">
)html";

constexpr std::string_view kBodyStart = R"html(</head>
<body>
<header>
<h1 id="title">)html";

constexpr std::string_view kBodyMiddle = R"html(</h1>
<div class="tools">
<button id="log" type="button" aria-pressed="true" title="Logarithmic or linear latencies">Log scale</button>
<button id="reset" type="button" title="Show all of the attack (or double-click in the plot)">Reset zoom</button>
<button id="png" type="button" title="Save what is shown as a PNG image">Save PNG</button>
<button id="theme" type="button" title="Dark or light">Theme</button>
</div>
</header>
<main>
<section id="chart" aria-label="Latency of each hit over time"></section>
<aside><ul id="legend"></ul></aside>
</main>
<footer>Drag to zoom, shift and drag to move, double-click to show all. Click a series to hide it, shift and click to see it alone.</footer>
<noscript><p>This plot is drawn by a script inside this page. It needs JavaScript, but no network.</p></noscript>
)html";

std::string escape_html(std::string_view text) {
  std::string safe;
  append_terminal_safe(text, safe);
  std::string out;
  for (const char c : safe) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&#34;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

void append_script(std::string_view script, std::string& out) {
  out.append("<script>\n").append(script).append("\n</script>\n");
}

void append_seconds(std::int64_t millis, std::string& out) {
  fmt::format_to(std::back_inserter(out), "{}", static_cast<double>(millis) / 1e3);
}

void append_row(const PlotCell* first, const PlotCell* last, std::size_t series, std::string& out) {
  out += '[';
  append_seconds(first->millis, out);
  for (std::size_t i = 0; i < series; ++i) {
    if (first != last && first->series == i) {
      fmt::format_to(std::back_inserter(out), ",{:.6g}", static_cast<double>(first->latency) / 1e6);
      ++first;
    } else {
      out += ",null";
    }
  }
  out += ']';
}

// One row for each x: [x, y of the first series, y of the second ...], null where a series has no point.
void append_rows(const std::vector<PlotCell>& cells, std::size_t series, std::string& out) {
  out += '[';
  for (std::size_t first = 0; first < cells.size();) {
    std::size_t last = first + 1;
    while (last < cells.size() && cells[last].same_row(cells[first])) ++last;
    if (first > 0) out += ",\n";
    append_row(cells.data() + first, cells.data() + last, series, out);
    first = last;
  }
  out += ']';
}

void append_data(const std::vector<Series>& series, const std::vector<PlotCell>& cells, std::string& out) {
  out += "<script>\nconst plot = {\n\"labels\": [\"Seconds\"";
  for (const Series& one : series) {
    out += ", ";
    append_json_string(one.label, out);
  }
  out += "],\n\"hits\": [";
  for (std::size_t i = 0; i < series.size(); ++i) {
    fmt::format_to(std::back_inserter(out), "{}{}", i == 0 ? "" : ", ", series[i].hits);
  }
  out += "],\n\"rows\": ";
  append_rows(cells, series.size(), out);
  out += "\n};\n</script>\n";
}

}  // namespace

struct Plot::State {
  explicit State(PlotOptions given)
      : options{std::move(given)}, threshold{std::min(options.threshold, kMaxThreshold)}, gatherer{threshold} {}

  PlotOptions options;
  std::int64_t threshold;
  SeriesGatherer gatherer;
};

Plot::Plot(PlotOptions options) : state_{std::make_unique<State>(std::move(options))} {}
Plot::~Plot() = default;

void Plot::add(const Result& result) { state_->gatherer.add(result); }

Expected<void> Plot::write(std::string& out) {
  std::vector<Series> series = state_->gatherer.take();
  const std::int64_t threshold = state_->threshold;
  if (threshold != 0 && threshold < kMinThreshold) {
    for (const Series& one : series) {
      const bool longer = threshold < 0 || one.hits > static_cast<std::uint64_t>(threshold);
      if (longer) return Error{"lttb: min threshold is 3"};
    }
  }
  const std::size_t points = threshold < 0 ? 0 : static_cast<std::size_t>(threshold);
  const std::vector<PlotCell> cells = make_rows(series, points < kMinThreshold ? 0 : points);

  const std::string title = escape_html(state_->options.title);
  out.append(kHeadStart).append("<title>").append(title).append("</title>\n<style>\n");
  out.append(kDygraphStyle).append(kPlotStyle).append("</style>\n");
  out.append(kBodyStart).append(title).append(kBodyMiddle);
  append_script(kDygraphScript, out);
  append_data(series, cells, out);
  append_script(kPlotScript, out);
  out += "</body>\n</html>\n";
  return {};
}

}  // namespace pepe
