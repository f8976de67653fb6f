// Series as SVG, and back: `readPoints` gives what is drawn, from the elements' geometry alone.
const SVG = "http://www.w3.org/2000/svg";
function element(parent, tag, attributes = {}, text = null) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text !== null) node.textContent = text;
  parent?.append(node);
  return node;
}
const px = (value) => value.toFixed(3);

// Indices of the values within [a, b], and one more on each side, so that lines leave the plot.
function window_(x, [a, b]) {
  let first = x.findIndex((value) => value >= a);
  if (first < 0) first = x.length;
  let last = x.length - 1;
  while (last >= 0 && x[last] > b) last -= 1;
  return [Math.max(0, first - 1), Math.min(x.length - 1, last + 1)];
}

// Where there are many values per pixel: the first, lowest, highest and last of each pixel column.
// Lines then look the same, and each point drawn is a value of the series.
function thin(points, width) {
  if (points.length < 4 * width) return points;
  const kept = [];
  for (let i = 0; i < points.length; ) {
    const column = Math.floor(points[i].x);
    let [low, high, j] = [i, i, i];
    for (; j < points.length && Math.floor(points[j].x) === column; j += 1) {
      if (points[j].y < points[low].y) low = j;
      if (points[j].y > points[high].y) high = j;
    }
    for (const k of new Set([i, low, high, j - 1].sort((a, b) => a - b))) kept.push(points[k]);
    i = j;
  }
  return kept;
}

// Runs of neighbouring points that can be drawn; a missing value is a gap, and so is what a
// logarithmic axis cannot show.
function segments(series, panel) {
  const { x, y } = numbersOf(series);
  const [first, last] = window_(x, timeShown());
  const all = [[]];
  for (let i = first; i <= last; i += 1) {
    const drawable = y[i] !== null && (!panel.logarithmic || y[i] > 0);
    if (drawable) all.at(-1).push({ x: panel.x.of(x[i]), y: panel.y.of(y[i]) });
    else if (all.at(-1).length) all.push([]);
  }
  return all.filter((points) => points.length).map((points) => thin(points, panel.width));
}

const draw = {
  line(group, series, panel, attributes) {
    const parts = segments(series, panel);
    const path = (points) => points.map((point, i) => `${i ? "L" : "M"}${px(point.x)},${px(point.y)}`).join("");
    element(group, "path", { ...attributes, d: parts.filter(({ length }) => length > 1).map(path).join("") });
    for (const [point] of parts.filter(({ length }) => length === 1)) {
      const lone = { ...attributes, class: `${attributes.class} lone` };
      element(group, "circle", { ...lone, cx: px(point.x), cy: px(point.y), r: 3 });
    }
  },
  published(group, series, panel, attributes) {
    for (const point of segments(series, panel).flat()) {
      element(group, "circle", { ...attributes, cx: px(point.x), cy: px(point.y), r: 3.2 });
    }
  },
  band(group, series, panel, attributes) {
    const { from, to, y, high } = numbersOf(series);
    const [a, b] = timeShown();
    for (let i = 0; i < y.length; i += 1) {
      if (y[i] === null || high[i] === null || to[i] < a || from[i] > b) continue;
      if (panel.logarithmic && y[i] <= 0) continue;
      const [left, right] = [panel.x.of(from[i]), panel.x.of(to[i])];
      const [top, bottom] = [panel.y.of(high[i]), panel.y.of(y[i])];
      element(group, "rect", { ...attributes, x: px(left), width: px(right - left), y: px(top), height: px(bottom - top) });
    }
  },
  // Columns of one run stand on each other: `panel.base` holds the height reached so far per interval.
  count(group, series, panel, attributes) {
    const { from, to, y } = numbersOf(series);
    const [a, b] = timeShown();
    const base = (panel.base[0] ??= y.map(() => 0));
    for (let i = 0; i < y.length; i += 1) {
      const bottom = base[i];
      base[i] += y[i] ?? 0;
      if (!y[i] || to[i] < a || from[i] > b) continue;
      const [left, right] = [panel.x.of(from[i]), panel.x.of(to[i])];
      const [low, high] = [panel.y.of(bottom), panel.y.of(base[i])];
      const width = Math.max(right - left, 1);
      element(group, "rect", { ...attributes, x: px(left), width: px(width), y: px(high), height: px(low - high) });
    }
  },
  // Parts of a whole lie on each other: `panel.base` holds the height reached so far per bucket.
  share(group, series, panel, attributes) {
    const { from, to, y } = columns(series, panel);
    const base = (panel.base[series.flow] ??= y.map(() => 0));
    const [upper, lower] = [[], []];
    for (let i = 0; i < y.length; i += 1) {
      const [left, right] = [px(panel.x.of(from[i])), px(panel.x.of(to[i]))];
      const [bottom, top] = [px(panel.y.of(base[i])), px(panel.y.of(base[i] + y[i]))];
      base[i] += y[i];
      upper.push(`L${left},${top}L${right},${top}`);
      lower.unshift(`L${right},${bottom}L${left},${bottom}`);
    }
    if (upper.length) element(group, "path", { ...attributes, d: `M${(upper.join("") + lower.join("")).slice(1)}Z` });
  },
};

// Buckets of a share, averaged over each pixel column where they are narrower.
function columns(series, panel) {
  const { from, to, y } = numbersOf(series);
  const [first, last] = window_(to, timeShown());
  const out = { from: [], to: [], y: [] };
  for (let i = first; i <= last; ) {
    const start = i;
    let sum = 0;
    do sum += y[i++] ?? 0;
    while (i <= last && panel.x.of(to[i]) - panel.x.of(from[start]) < 1);
    out.from.push(from[start]);
    out.to.push(to[i - 1]);
    out.y.push(sum / (i - start));
  }
  return out;
}

function drawSeries(group, series, panel) {
  const { line } = series;
  const again = line?.colour >= COLOURS ? " again" : "";
  const later = line ? (line.colour === null ? " all" : again) : series.flow > 0 ? " later" : "";
  const place = series.role === "share" ? ` limit-${limits[series.name].place}` : "";
  const attributes = { class: `mark ${series.role}${later}${place}`, "data-series": series.id };
  attributes.style = `--run:${colourOfSeries(series)}`;
  (draw[series.role] ?? draw.line)(group, series, panel, attributes);
}

// What the elements of a series show, in the axes' units: [{x, y}], for a band [{x, y, high}], for a
// share [{x, y}] with y the height of the part. Points outside the plot are clipped, so not drawn.
function readPoints(panel, id) {
  const marks = [...panel.svg.querySelectorAll(".mark")].filter((mark) => mark.dataset.series === id);
  const value = (mark, name) => Number(mark.getAttribute(name));
  const point = (x, y) => ({ x: panel.x.invert(x), y: panel.y.invert(y) });
  const points = marks.flatMap((mark) => {
    if (mark.tagName === "circle") return [point(value(mark, "cx"), value(mark, "cy"))];
    if (mark.tagName === "rect") {
      const [left, top] = [value(mark, "x"), value(mark, "y")];
      const { x, y } = point(left + value(mark, "width") / 2, top + value(mark, "height"));
      return [{ x, y, high: panel.y.invert(top) }];
    }
    const corners = [...mark.getAttribute("d").matchAll(/[ML](-?[\d.]+),(-?[\d.]+)/g)];
    const path = corners.map(([, x, y]) => point(Number(x), Number(y)));
    return mark.classList.contains("share") ? readShare(path) : path;
  });
  const [left, right] = [panel.x.invert(panel.left - 0.01), panel.x.invert(panel.left + panel.width + 0.01)];
  return points.filter(({ x }) => x >= left && x <= right);
}
// The upper edge runs forward through the first half of the corners, the lower edge back.
function readShare(path) {
  const points = [];
  for (let i = 0; i < path.length / 2; i += 2) {
    const [left, right, below] = [path[i], path[i + 1], path[path.length - 1 - i]];
    points.push({ x: (left.x + right.x) / 2, y: left.y - below.y });
  }
  return points;
}
