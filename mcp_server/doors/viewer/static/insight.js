"use strict";

// Draws the plots of the page from its data; each has its table below it.
(() => {
  const HEIGHT = 220; // CSS pixels
  const drawn = [];

  function colours() {
    const style = getComputedStyle(document.documentElement);
    const named = (name) => style.getPropertyValue(name).trim();
    return { text: named("--quiet"), line: named("--line"), fills: [named("--accent"), named("--warm"), named("--good")] };
  }

  function axis(ink, more) {
    return { stroke: ink.text, grid: { stroke: ink.line, width: 1 }, ticks: { stroke: ink.line, width: 1 }, ...more };
  }

  function shown(number, unit) {
    if (number === null || number === undefined) {
      return "–";
    }
    if (unit === "$") {
      return `$${number.toFixed(4)}`;
    }
    return unit === "%" ? `${number} %` : number.toLocaleString("en");
  }

  // One bar for each day: the numbers stand upon each other, so the highest is drawn first.
  function stacked(lines) {
    const sums = lines.map((_, at) => lines[0].map((_, day) => lines.slice(0, at + 1).reduce((sum, line) => sum + line[day], 0)));
    return sums.reverse();
  }

  function draw(place, series) {
    const ink = colours();
    const { plot: name, unit } = place.dataset;
    const labels = place.dataset.labels.split("|");
    const lines = series[name];
    const bars = name !== "used";
    const data = bars ? stacked(lines) : lines;
    const of = (at) => (bars ? lines.length - 1 - at : at); // the line that is drawn at that place
    const options = {
      width: place.clientWidth,
      height: HEIGHT,
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
      cursor: { drag: { x: false, y: false }, points: { show: !bars } },
      scales: {
        x: { range: (_, least, most) => [least - 43200, most + 43200] },
        y: { range: (_, least, most) => [0, unit === "%" ? 100 : Math.max(most * 1.05, unit === "$" ? 0.01 : 4)] },
      },
      axes: [
        axis(ink, { values: [[86400 * 28, "{YYYY}-{MM}", null, null, null, null, null, null, 1], [86400, "{MM}-{DD}", null, null, null, null, null, null, 1]], incrs: [86400, 86400 * 2, 86400 * 7, 86400 * 14, 86400 * 31, 86400 * 91, 86400 * 182], space: 60 }),
        axis(ink, { size: 62, values: (_, ticks) => ticks.map((tick) => (unit === "$" ? `$${tick}` : unit === "%" ? `${tick} %` : tick.toLocaleString("en"))) }),
      ],
      series: [
        { label: "Day", value: (_, seconds) => (seconds ? new Date(seconds * 1000).toISOString().slice(0, 10) : "–") },
        ...data.map((_, at) => ({
          label: labels[of(at)],
          stroke: ink.fills[of(at)],
          fill: bars ? ink.fills[of(at)] : undefined,
          width: bars ? 0 : 2,
          spanGaps: !bars,
          paths: bars ? uPlot.paths.bars({ size: [0.8, 40] }) : undefined,
          points: bars ? { show: false } : { show: true, size: 6, fill: ink.fills[of(at)] },
          value: (_, number, __, day) => shown(day === null ? null : lines[of(at)][day], unit),
        })),
      ],
    };
    place.replaceChildren();
    return new uPlot(options, [series.days, ...data], place);
  }

  function drawAll() {
    while (drawn.length) {
      drawn.pop().destroy();
    }
    const source = document.getElementById("series");
    if (source) {
      const series = JSON.parse(source.textContent);
      for (const place of document.querySelectorAll("[data-plot]")) {
        drawn.push(draw(place, series));
      }
    }
  }

  let width = 0;
  window.addEventListener("resize", () => {
    if (width !== window.innerWidth) {
      width = window.innerWidth;
      drawAll();
    }
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  document.addEventListener("htmx:afterSettle", drawAll);
  drawAll();
})();
