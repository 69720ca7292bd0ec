
"use strict";
// Shows the values under the pointer in all charts. They are computed from the paths of
// the curves: a point is converted to iteration and value by the scales of its chart.
(() => {
  const WIDTH = 1000, HEIGHT = 400, STRETCHES = 240, SVG = "http://www.w3.org/2000/svg";

  const written = (value, range) => {
    const size = Math.abs(value);
    const shown = size >= 1e5 || (size > 0 && size < 1e-3 && range < 1e-2)
      ? value.toExponential(2)
      : value.toFixed(Math.min(6, Math.max(0, 2 - Math.floor(Math.log10(range)))));
    return shown.replace(/-/g, "\u2212");
  };

  const chartOf = (figure) => {
    const svg = figure.querySelector("svg");
    const [x0, x1] = svg.dataset.x.split(" ").map(Number);
    let [y0, y1] = svg.dataset.y.split(" ").map(Number);
    const isLog = "log" in svg.dataset;
    const valueAt = (height) => {
      const share = 1 - height / HEIGHT;
      return isLog ? y0 * (y1 / y0) ** share : y0 + (y1 - y0) * share;
    };
    const outputs = [...figure.querySelectorAll("output")];
    const lines = [...svg.querySelectorAll("path.line[data-name]")].map((path, index) => ({
      output: outputs[index],
      last: outputs[index].textContent,
      points: [...path.getAttribute("d").matchAll(/([ML])([\d.-]+) ([\d.-]+)/g)]
        .map(([, pen, x, y]) => [x0 + (x1 - x0) * x / WIDTH, valueAt(y), pen === "M"]),
    }));
    const cursor = svg.appendChild(document.createElementNS(SVG, "path"));
    cursor.setAttribute("class", "cursor");
    return { figure, svg, x0, x1, range: y1 - y0, isLog, lines, cursor };
  };

  // Value of the nearest point; null in gaps and beyond the ends of the line.
  const valueNear = (points, x, room) => {
    let low = 0, high = points.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (points[middle][0] < x) low = middle + 1; else high = middle;
    }
    const before = points[low - 1], after = points[low];
    const isBefore = before && x - before[0] < after[0] - x;
    const point = isBefore ? before : after;
    const inLine = before && x <= after[0] && !after[2];
    return inLine || Math.abs(point[0] - x) <= room ? point[1] : null;
  };

  const charts = [...document.querySelectorAll("figure.chart")]
    .filter((figure) => figure.querySelector("path.line[data-name]")).map(chartOf);

  const follow = (iteration) => {
    for (const chart of charts) {
      const x = WIDTH * (iteration - chart.x0) / (chart.x1 - chart.x0);
      chart.cursor.setAttribute("d", `M${x} 0V${HEIGHT}`);
      for (const line of chart.lines) {
        if (!line.points.length) continue;
        const room = (chart.x1 - chart.x0) / STRETCHES;
        const value = valueNear(line.points, iteration, room);
        line.output.textContent = value === null
          ? "none" : written(value, chart.isLog ? Math.abs(value) : chart.range);
      }
    }
    document.body.classList.add("following");
  };

  const leave = () => {
    for (const chart of charts) {
      chart.cursor.removeAttribute("d");
      for (const line of chart.lines) line.output.textContent = line.last;
    }
    document.body.classList.remove("following");
    for (const label of document.querySelectorAll(".at")) label.remove();
  };

  for (const chart of charts) {
    const across = chart.figure.querySelector(".across");
    const label = document.createElement("span");
    label.className = "at";
    chart.svg.addEventListener("pointermove", (event) => {
      const box = chart.svg.getBoundingClientRect();
      const share = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
      const iteration = Math.round(chart.x0 + (chart.x1 - chart.x0) * share);
      follow(iteration);
      label.textContent = iteration;
      label.style.left = `${100 * share}%`;
      across.append(label);
    });
    chart.svg.addEventListener("pointerleave", leave);
  }
})();
