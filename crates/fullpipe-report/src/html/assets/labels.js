// Names written next to lines, where there is room: readers need not look up a legend.
const MOST_LABELS = 8;
const pen = document.createElement("canvas").getContext("2d");
function textWidth(text, font = "600 12px Arial, sans-serif") {
  pen.font = font;
  return pen.measureText(text).width;
}
// What all names begin with tells none from another: it is what a name that is too long loses first.
const common = (() => {
  const names = report.runs.flatMap(({ flows }, run) => flows.map((_, flow) => nameOf(run, flow)));
  let length = names.length > 1 ? names[0].length : 0;
  for (const name of names) {
    while (!name.startsWith(names[0].slice(0, length))) length -= 1;
  }
  return length;
})();
function shorten(text, most = 34) {
  if (text.length <= most) return text;
  if (text.length - common < most) return `…${text.slice(1 - most)}`;
  const own = text.slice(common);
  const start = common ? "…" : "";
  const end = Math.floor((most - 2) / 2);
  return `${start}${own.slice(0, most - 1 - start.length - end)}…${own.slice(-end)}`;
}
const overlap = (one, other) =>
  one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
// Moves a label's box down until it covers none of those that were placed, and places it.
function stack(box, taken) {
  while (taken.some((other) => overlap(box, other))) {
    box.top += 15;
    box.bottom += 15;
  }
  taken.push(box);
  return box;
}

// Points every few pixels along what is drawn: what labels must not cover.
function inkOf(panel) {
  const ink = [];
  for (const mark of panel.svg.querySelectorAll("path.mark:not(.share)")) {
    const corners = [...mark.getAttribute("d").matchAll(/([ML])(-?[\d.]+),(-?[\d.]+)/g)];
    let before = null;
    for (const [, command, cx, cy] of corners) {
      const [x, y] = [Number(cx), Number(cy)];
      const steps = command === "L" && before ? Math.min(200, Math.ceil(Math.hypot(x - before.x, y - before.y) / 5)) : 1;
      for (let i = 1; i <= steps; i += 1) {
        const part = i / steps;
        ink.push(before && command === "L"
          ? { x: before.x + (x - before.x) * part, y: before.y + (y - before.y) * part, id: mark.dataset.series }
          : { x, y, id: mark.dataset.series });
      }
      before = { x, y };
    }
  }
  for (const circle of panel.svg.querySelectorAll("circle.mark")) {
    ink.push({ x: Number(circle.getAttribute("cx")), y: Number(circle.getAttribute("cy")), id: circle.classList.contains("published") ? "" : circle.dataset.series });
  }
  return ink;
}

// Boxes of a text around a point of its line, the preferred ones first.
function boxesAround({ x, y }, width) {
  const [height, gap] = [14, 9];
  return [
    { left: x + gap, top: y - height / 2 },
    { left: x - gap - width, top: y - height / 2 },
    { left: x + gap, top: y + 3 },
    { left: x - gap - width, top: y - height - 3 },
    { left: x - width / 2, top: y - height - gap },
    { left: x - width / 2, top: y + gap },
  ].map((box) => ({ ...box, right: box.left + width, bottom: box.top + height }));
}

function cost(box, panel, ink, taken) {
  const { left, top, width, height } = panel;
  if (box.left < left + 2 || box.right > left + width || box.top < top || box.bottom > top + height) return Infinity;
  const overlaps = (other) =>
    box.left < other.right + 4 && other.left < box.right + 4 && box.top < other.bottom + 1 && other.top < box.bottom + 1;
  if (taken.some(overlaps)) return Infinity;
  let covered = 0;
  for (const { x, y } of ink) {
    if (x > box.left - 5 && x < box.right + 5 && y > box.top - 1 && y < box.bottom + 1) covered += 1;
  }
  return covered;
}

// Distance from a box to the nearest line of another series: the farther, the clearer whose it is.
function clearance(box, ink, id) {
  const [cx, cy] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
  let nearest = 40;
  for (const point of ink) {
    if (point.id === id || point.id === "") continue;
    const dx = Math.max(Math.abs(point.x - cx) - (box.right - box.left) / 2, 0);
    const dy = Math.max(Math.abs(point.y - cy) - 7, 0);
    nearest = Math.min(nearest, Math.hypot(dx, dy));
  }
  return nearest;
}

// Whether a line rises from the bottom of the plot at all.
function isSeen(series, panel) {
  const bottom = panel.top + panel.height - 8;
  return !series.line || numbersOf(series).y.some((value) => value !== null && panel.y.of(value) < bottom);
}

// Labels each measured series, those with the least free room first.
function labelSeries(group, panel, series, taken) {
  const measured = series.filter((one) => one.role === "measure" && isSeen(one, panel));
  if (measured.length > MOST_LABELS) return;
  const ink = inkOf(panel);
  for (const one of measured) {
    const text = one.line ? one.line.name : shorten(nameOf(one.run, one.flow));
    const width = textWidth(text);
    const own = ink.filter(({ id, y }) => id === one.id && (!one.line || y < panel.top + panel.height - 8));
    const every = Math.max(1, Math.floor(own.length / 60));
    let best = { score: Infinity };
    own.filter((_, i) => i % every === 0).forEach((point) => {
      boxesAround(point, width).forEach((box, preference) => {
        const covered = cost(box, panel, ink, taken);
        if (covered === Infinity) return;
        const score = covered * 25 + preference * 3 - clearance(box, ink, one.id);
        if (score < best.score) best = { score, box, covered };
      });
    });
    if (!best.box || best.covered > 6) continue;
    taken.push(best.box);
    element(group, "text", {
      class: "direct", x: px(best.box.left), y: px(best.box.top + 11), style: `--run:${colourOfSeries(one)}`,
    }, text);
  }
}

// Names of limits inside the widest stretch in which they fill most of the strip.
function labelShares(group, panel, series) {
  for (const one of series.filter(({ role }) => role === "share")) {
    const { from, to, y } = columns(one, panel);
    let [best, start] = [null, null];
    y.forEach((value, i) => {
      if (value < 60) start = null;
      else {
        start ??= i;
        if (!best || to[i] - from[start] > best[1] - best[0]) best = [from[start], to[i]];
      }
    });
    if (!best) continue;
    const label = limits[one.name].label;
    const left = Math.max(panel.left, panel.x.of(best[0]));
    const right = Math.min(panel.left + panel.width, panel.x.of(best[1]));
    if (right - left < textWidth(label, "11px Arial, sans-serif") + 14) continue;
    const dark = [1, 2].includes(limits[one.name].place) ? " on-dark" : "";
    element(group, "text", {
      class: `inside${dark}`, x: px((left + right) / 2), y: px(panel.top + panel.height / 2 + 4), "text-anchor": "middle",
    }, label);
  }
}
