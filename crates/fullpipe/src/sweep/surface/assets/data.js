// What was measured, and which of it is drawn.

const data = JSON.parse(document.getElementById("data").textContent);

// What can be drawn: { key, name, unit, of(point) -> { mean, within } or undefined }.
const QUANTITIES = [
  { key: "rate", name: "rate", unit: "Mb/s", of: (point) => point.rate },
  { key: "resent", name: "segments sent again", unit: "segments", of: (point) => point.resent },
  { key: "srtt", name: "median srtt", unit: "ms", of: (point) => point.srtt },
];

// The axes with most points are drawn first, of a matrix its columns and rows.
const bySize = data.axes.map((_, n) => n).sort((a, b) => data.axes[b].shown.length - data.axes[a].shown.length);
const state = {
  quantity: QUANTITIES[0],
  x: data.pairs?.columns ?? bySize[0] ?? -1,
  y: data.pairs?.rows ?? bySize[1] ?? -1,
  at: data.axes.map(() => 0), // where the other axes stand, and the slice on y
  a: Math.min(1, data.panels.length - 1),
  b: 0,
};

const keyOf = (panel, at) => `${panel}:${at.join(",")}`;
const points = new Map(data.points.map((point) => [keyOf(point.panel, point.at), point]));

// Where these places of the two axes that are drawn lie on all axes.
function placeOf(x, y) {
  const at = [...state.at];
  if (state.x >= 0) at[state.x] = x;
  if (state.y >= 0) at[state.y] = y;
  return at;
}
const pointAt = (panel, x, y) => points.get(keyOf(panel, placeOf(x, y)));
const meanAt = (panel, x, y) => {
  const point = pointAt(panel, x, y);
  return point && state.quantity.of(point)?.mean;
};
const lengthOf = (axis) => (axis < 0 ? 1 : data.axes[axis].shown.length);
const shownAt = (axis, n) => (axis < 0 ? "" : data.axes[axis].shown[n]);
const nameOf = (axis) => (axis < 0 ? "" : data.axes[axis].name);

// The values of all panels that are drawn now: surfaces have one scale.
function allMeans() {
  const means = [];
  for (let panel = 0; panel < data.panels.length; panel += 1)
    for (let x = 0; x < lengthOf(state.x); x += 1)
      for (let y = 0; y < lengthOf(state.y); y += 1) {
        const mean = meanAt(panel, x, y);
        if (mean !== undefined) means.push(mean);
      }
  return means;
}

const extent = (values) => values.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);

// A scale to colours: logarithmic where values differ by more than ten times; from 0 otherwise.
function rampOf(means) {
  const above = means.filter((mean) => mean > 0);
  const [low, high] = extent(above);
  if (above.length === 0) return { of: () => 0, ticks: [], domain: [0, 1] };
  if (high / low > 10) {
    const domain = [low, high];
    const scale = logScale(domain, [0, 1]);
    return { of: (value) => Math.max(0, scale.of(Math.max(value, low))), ticks: scale.ticks, domain, logarithmic: true };
  }
  const domain = [0, high];
  const scale = linearScale(domain, [0, 1], 5);
  return { of: scale.of, ticks: scale.ticks.filter((tick) => tick > 0), domain };
}

// From dark blue over green to yellow: lightness grows with the value, so that it can be read without colours.
const STOPS = [[45, 22, 92], [56, 88, 140], [33, 144, 141], [93, 201, 99], [253, 231, 60]];
// From blue over grey to orange, for what lies below and above.
const TWO = [[33, 87, 158], [132, 172, 214], [232, 230, 226], [236, 167, 110], [186, 84, 20]];
function colour(share, stops) {
  const at = Math.min(0.9999, Math.max(0, share)) * (stops.length - 1);
  const [from, to, part] = [stops[Math.floor(at)], stops[Math.floor(at) + 1], at % 1];
  return `rgb(${from.map((value, n) => Math.round(value + (to[n] - value) * part)).join(" ")})`;
}

const SVG = "http://www.w3.org/2000/svg";
function element(parent, name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}
// A number with three digits that count.
function short(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-3) return value.toExponential(2).replace("-", "−");
  return format(value, Math.max(0, 2 - Math.floor(Math.log10(size))));
}
