(() => {
  "use strict";
  const byId = (id) => document.getElementById(id);
  const root = document.documentElement;
  const labels = plot.labels.slice(1);
  const failed = labels.map((label) => label.endsWith(": ERROR"));
  const box = byId("chart").appendChild(document.createElement("div"));
  const numbers = new Intl.NumberFormat("en");
  root.dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";

  // Hits from green over blue to violet, errors from pink over red to orange; neighbours differ in lightness as well.
  function colors() {
    const lightness = root.dataset.theme === "dark" ? [66, 54] : [42, 54];
    const hues = { hit: { first: 215, from: 100, to: 290 }, error: { first: 0, from: -25, to: 40 } };
    const counts = { hit: failed.filter((is) => !is).length, error: failed.filter((is) => is).length };
    const seen = { hit: 0, error: 0 };
    return failed.map((isError) => {
      const kind = isError ? "error" : "hit";
      const { first, from, to } = hues[kind];
      const i = seen[kind]++;
      const hue = counts[kind] === 1 ? first : from + (to - from) * i / (counts[kind] - 1);
      return `hsla(${Math.round(hue + 360) % 360}, ${isError ? 78 : 68}%, ${lightness[i % 2]}%, ${isError ? 0.95 : 0.75})`;
    });
  }

  function style(name) {
    return getComputedStyle(root).getPropertyValue("--" + name).trim();
  }

  function themed() {
    return { colors: colors(), axisLineColor: style("line"), gridLineColor: style("grid"),
             rangeSelectorPlotFillColor: style("accent"), rangeSelectorPlotStrokeColor: style("muted"),
             rangeSelectorForegroundStrokeColor: style("muted"), highlightSeriesBackgroundColor: style("card") };
  }

  function milliseconds(value) {
    return value == null ? "" : numbers.format(Number(value.toPrecision(4))) + " ms";
  }

  // Dots show where the hits are dense; a line through thousands of them would be one block. Few hits get a line as well.
  function seriesOptions() {
    const points = labels.map(() => 0);
    for (const row of plot.rows) labels.forEach((_, i) => { points[i] += row[i + 1] == null ? 0 : 1; });
    return Object.fromEntries(labels.map((label, i) => {
      const few = points[i] < 400;
      return [label, { drawPoints: true, pointSize: failed[i] ? 2.4 : few ? 2 : 1.2, strokeWidth: few && !failed[i] ? 1 : 0 }];
    }));
  }

  function drawLegend(graph) {
    const list = byId("legend");
    const at = list.appendChild(document.createElement("li"));
    at.className = "at";
    const entries = labels.map((label, i) => {
      const button = document.createElement("button");
      button.type = "button";
      button.title = label + " (click: hide or show; shift and click: show it alone)";
      const parts = ["chip", "label", "value"].map((name) => {
        const part = button.appendChild(document.createElement("span"));
        part.className = name;
        return part;
      });
      // A name that is too long is cut, what became of its hits never.
      const cut = label.lastIndexOf(": ");
      const texts = [label.slice(0, cut), label.slice(cut > 0 ? cut : cut + 2)];
      texts.forEach((text) => { parts[1].appendChild(document.createElement("span")).textContent = text; });
      const hits = numbers.format(plot.hits[i]) + (plot.hits[i] === 1 ? " hit" : " hits");
      button.addEventListener("click", (event) => {
        const shown = graph.visibility();
        const next = event.shiftKey ? shown.map((_, j) => j === i) : shown.map((is, j) => (j === i ? !is : is));
        graph.updateOptions({ visibility: next });
        repaint();
      });
      list.appendChild(document.createElement("li")).appendChild(button);
      return { button, hits, chip: parts[0], value: parts[2] };
    });
    function repaint() {
      const palette = colors();
      entries.forEach((entry, i) => {
        entry.chip.style.background = palette[i];
        entry.button.setAttribute("aria-pressed", graph.visibility()[i]);
      });
    }
    // `nearest`: the series of the dot below the pointer.
    function show(x, points, nearest) {
      at.textContent = x == null ? (labels.length === 1 ? "1 series" : `${labels.length} series`) : `At ${x} s`;
      const values = new Map(points.map((point) => [point.name, point.yval]));
      entries.forEach((entry, i) => {
        entry.value.textContent = x == null ? entry.hits : milliseconds(values.get(labels[i]));
        entry.button.classList.toggle("nearest", labels[i] === nearest);
        if (labels[i] === nearest) entry.button.scrollIntoView({ block: "nearest" });
      });
    }
    show(null, []);
    repaint();
    return { repaint, show };
  }

  // What is on the screen as one image: the canvases, then the texts around them, which are elements of the page.
  function savePng() {
    graph.resize();
    const scale = window.devicePixelRatio || 1;
    const frame = box.getBoundingClientRect();
    const legendRows = labels.slice(0, 40);
    const top = 44;
    const image = document.createElement("canvas");
    image.width = (frame.width + 24 + 280) * scale;
    image.height = Math.max(frame.height + top + 16, top + legendRows.length * 20) * scale;
    const pen = image.getContext("2d");
    pen.scale(scale, scale);
    pen.fillStyle = style("card");
    pen.fillRect(0, 0, image.width, image.height);
    pen.translate(12, top);
    for (const canvas of box.querySelectorAll("canvas")) {
      const place = canvas.getBoundingClientRect();
      if (getComputedStyle(canvas).display === "none" || place.width === 0) continue;
      pen.drawImage(canvas, place.left - frame.left, place.top - frame.top, place.width, place.height);
    }
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    for (const text of box.querySelectorAll(".dygraph-axis-label, .dygraph-xlabel, .dygraph-ylabel")) {
      const place = text.getBoundingClientRect();
      pen.save();
      pen.translate(place.left - frame.left + place.width / 2, place.top - frame.top + place.height / 2);
      if (text.classList.contains("dygraph-ylabel")) pen.rotate(-Math.PI / 2);
      pen.fillStyle = style("muted");
      pen.font = getComputedStyle(text).fontSize + " sans-serif";
      pen.fillText(text.textContent, 0, 0);
      pen.restore();
    }
    pen.textAlign = "left";
    pen.font = "12px sans-serif";
    const palette = colors();
    legendRows.forEach((label, i) => {
      pen.fillStyle = palette[i];
      pen.fillRect(frame.width + 16, i * 20 + 2, 11, 11);
      pen.fillStyle = style("text");
      pen.fillText(label.length > 36 ? label.slice(0, 35) + "…" : label, frame.width + 34, i * 20 + 8);
    });
    pen.font = "600 17px sans-serif";
    pen.fillStyle = style("text");
    pen.fillText(document.title, 0, -top / 2);
    const link = document.createElement("a");
    link.href = image.toDataURL("image/png");
    link.download = "plot.png";
    link.click();
  }

  if (plot.rows.length === 0) {
    box.className = "empty";
    box.textContent = "There are no results to draw.";
    return;
  }

  const graph = new Dygraph(box, plot.rows, {
    labels: plot.labels, series: seriesOptions(), visibility: labels.map(() => true), ...themed(),
    logscale: true, connectSeparatedPoints: true, xlabel: "Seconds", ylabel: "Latency (ms)", legend: "never",
    showRangeSelector: true, rangeSelectorHeight: 34, highlightCircleSize: 4, axisLabelWidth: 62, xAxisHeight: 26, xRangePad: 6, yRangePad: 8,
    ...(labels.length > 1 ? { highlightSeriesOpts: { pointSize: 2 }, highlightSeriesBackgroundAlpha: 0.4 } : {}),
    highlightCallback: (event, x, points, row, nearest) => legend.show(x, points, nearest),
    unhighlightCallback: () => legend.show(null, []),
    axes: { y: { axisLabelFormatter: (value) => numbers.format(Number(value.toPrecision(6))) } },
  });
  const legend = drawLegend(graph);
  window.pepeGraph = graph;
  new ResizeObserver(() => graph.resize()).observe(box);

  byId("theme").addEventListener("click", () => {
    root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
    graph.updateOptions(themed());
    legend.repaint();
  });
  byId("log").addEventListener("click", (event) => {
    const on = event.currentTarget.getAttribute("aria-pressed") !== "true";
    event.currentTarget.setAttribute("aria-pressed", on);
    graph.updateOptions({ logscale: on });
  });
  byId("reset").addEventListener("click", () => graph.resetZoom());
  byId("png").addEventListener("click", savePng);
})();
