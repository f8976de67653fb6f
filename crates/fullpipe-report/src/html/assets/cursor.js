// The cursor: a time at which all figures are read, moved by pointer or keys; and zooming.
const values = Object.assign(document.createElement("div"), { id: "values" });
values.setAttribute("role", "status");
document.body.append(values);
const MOST_ROWS = 16;

// Index of the value that holds at a time: the interval around it, or the nearest gauge; -1 where
// the series has none there.
function indexAt(series, time) {
  const { from, to, x } = numbersOf(series);
  if (!x.length) return -1;
  let [low, high] = [0, x.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (to[middle] < time) low = middle + 1;
    else high = middle;
  }
  if (series.x_start) return time >= from[low] && time <= to[low] ? low : -1;
  if (low > 0 && time - x[low - 1] < x[low] - time) low -= 1;
  const spacing = x.length > 1 ? (x.at(-1) - x[0]) / (x.length - 1) : Infinity;
  return Math.abs(x[low] - time) <= Math.max(spacing, 1e-9) ? low : -1;
}

function readAt(series, time, figure) {
  const i = indexAt(series, time);
  if (i < 0) return "–";
  const { y, high } = numbersOf(series);
  if (y[i] === null) return series.absent || "–";
  if (!high) return valueText(y[i], figure.y.unit);
  return `${valueText(y[i], figure.y.unit)} to ${valueText(high[i], figure.y.unit)}`;
}

// Heading of the values: the interval they hold for, or the time of the gauges.
function timeText(figure, time) {
  for (const series of visibleSeries(figure)) {
    const i = indexAt(series, time);
    if (i < 0) continue;
    const { from, to } = numbersOf(series);
    const digits = to[i] - from[i] >= 1 || Number.isInteger(to[i]) ? 1 : 2;
    return series.x_start ? `${format(from[i], digits)} to ${format(to[i], digits)} s` : `${format(to[i], 2)} s`;
  }
  return `${format(time, 2)} s`;
}

const rowOf = ({ run, flow, line }) => (line ? `${run}.line.${line.name}.${line.colour}` : `${run}.${flow}`);
// Values at the cursor: a row per flow shown, or per line of the run under the cursor; a column per kind of series.
function fillValues(figure, time, run) {
  const visible = visibleSeries(figure).filter((series) => !series.line || series.run === run);
  const place = ({ role, name }) => ROLES.indexOf(role) + (limits[name]?.place ?? 0);
  const kinds = [...new Set([...visible].sort((a, b) => place(a) - place(b)).map(({ name }) => name))];
  const title = (name) => limits[name]?.label ?? name;
  const table = document.createElement("table");
  const head = table.createTHead().insertRow();
  const cell = (row, tag, text) => row.append(Object.assign(document.createElement(tag), { textContent: text }));
  cell(head, "th", timeText(figure, time));
  kinds.forEach((kind) => cell(head, "th", kinds.length > 1 || figure.layout !== "overlay" ? title(kind) : figure.y.label));
  const body = table.createTBody();
  const rows = [...new Set(visible.map(rowOf))];
  for (const key of rows.slice(0, MOST_ROWS)) {
    const first = visible.find((series) => rowOf(series) === key);
    const row = body.insertRow();
    cell(row, "th", first.line ? first.line.name : shorten(labelOf(first), 44));
    const chip = Object.assign(document.createElement("span"), { className: "chip" });
    chip.style.setProperty("--run", colourOfSeries(first));
    row.firstChild.prepend(chip);
    for (const kind of kinds) {
      const series = visible.find((one) => rowOf(one) === key && one.name === kind);
      cell(row, "td", series ? readAt(series, time, figure) : "–");
    }
  }
  if (rows.length > MOST_ROWS) cell(body.insertRow(), "th", `and ${rows.length - MOST_ROWS} more`);
  values.replaceChildren(table);
}

function placeValues(x, y) {
  const { width, height } = values.getBoundingClientRect();
  const right = x + 18 + width < innerWidth ? x + 18 : x - 18 - width;
  const below = y + 14 + height < innerHeight ? y + 14 : y - 14 - height;
  values.style.transform = `translate(${Math.max(4, right)}px, ${Math.max(4, below)}px)`;
}

// A line at the cursor's time in every panel; dots on the measured values of the figure under it.
function drawCursor() {
  const { cursor } = state;
  for (const panel of [...panels.values()].flat()) {
    panel.cursorLayer.replaceChildren();
    const [a, b] = timeShown();
    if (!cursor || cursor.time < a || cursor.time > b) continue;
    const at = panel.x.of(cursor.time);
    element(panel.cursorLayer, "line", { class: "cursor", x1: at, x2: at, y1: panel.top, y2: panel.top + panel.height });
    if (panel.figure !== cursor.figure) continue;
    for (const series of panel.series.filter(({ role }) => role === "measure")) {
      const i = indexAt(series, cursor.time);
      const { x, y } = numbersOf(series);
      if (i < 0 || y[i] === null || (panel.logarithmic && y[i] <= 0)) continue;
      const style = `--run:${colourOfSeries(series)}`;
      element(panel.cursorLayer, "circle", { class: "dot", style, cx: panel.x.of(x[i]), cy: panel.y.of(y[i]), r: 4 });
    }
  }
  values.classList.toggle("shown", cursor !== null);
  if (cursor) fillValues(cursor.figure, cursor.time, cursor.run);
}
function moveCursor({ figure, run }, time, x, y) {
  state.cursor = { figure, run, time };
  drawCursor();
  placeValues(x, y);
}
function hideCursor() {
  state.cursor = null;
  drawCursor();
}

const panelOf = (target) => {
  const node = target.closest?.(".panel");
  return node && [...panels.values()].flat().find((panel) => panel.node === node);
};
// Pixels of the page to the drawing's own, which differ while the window is being resized.
function timeAt(panel, clientX) {
  const box = panel.svg.getBoundingClientRect();
  const inside = ((clientX - box.left) / box.width) * panel.svg.viewBox.baseVal.width;
  return panel.x.invert(Math.min(panel.left + panel.width, Math.max(panel.left, inside)));
}

let drag = null; // { panel, from } while the pointer is down
function onPointerMove(event) {
  const panel = drag?.panel ?? panelOf(event.target);
  if (!panel) return state.cursor && hideCursor();
  const time = timeAt(panel, event.clientX);
  moveCursor(panel, time, event.clientX, event.clientY);
  if (drag) drawSelection(panel, drag.from, time);
}
function drawSelection(panel, from, to) {
  const [left, right] = [panel.x.of(Math.min(from, to)), panel.x.of(Math.max(from, to))];
  element(panel.cursorLayer, "rect", { class: "selection", x: left, width: right - left, y: panel.top, height: panel.height });
}
function onPointerDown(event) {
  const panel = panelOf(event.target);
  if (!panel || event.button !== 0 || event.pointerType === "touch") return;
  drag = { panel, from: timeAt(panel, event.clientX), x: event.clientX };
  event.preventDefault();
  panel.svg.focus({ preventScroll: true });
}
function onPointerUp(event) {
  if (!drag) return;
  const { panel, from, x } = drag;
  drag = null;
  const to = timeAt(panel, event.clientX);
  if (Math.abs(event.clientX - x) > 4) zoomTo(Math.min(from, to), Math.max(from, to));
}

// Keys while a panel has the focus.
function step(panel, count) {
  const series = panel.series.find(({ role }) => ["measure", "share", "count"].includes(role)) ?? panel.series[0];
  if (!series) return;
  const { x } = numbersOf(series);
  const [a, b] = timeShown();
  const inside = x.filter((time) => time >= a && time <= b);
  if (!inside.length) return;
  const now = state.cursor?.time ?? a;
  const place = inside.findIndex((time) => time >= now - 1e-9);
  const next = Math.min(inside.length - 1, Math.max(0, (place < 0 ? inside.length : place) + count));
  const box = panel.svg.getBoundingClientRect();
  moveCursor(panel, inside[next], box.left + (panel.x.of(inside[next]) / panel.svg.viewBox.baseVal.width) * box.width, box.top + 30);
}
function zoomBy(factor) {
  const [a, b] = timeShown();
  const centre = state.cursor?.time ?? (a + b) / 2;
  zoomTo(centre - (centre - a) * factor, centre + (b - centre) * factor);
}
const keys = {
  ArrowLeft: (panel, event) => step(panel, event.shiftKey ? -10 : -1),
  ArrowRight: (panel, event) => step(panel, event.shiftKey ? 10 : 1),
  Home: (panel) => step(panel, -Infinity),
  End: (panel) => step(panel, Infinity),
  "+": () => zoomBy(0.5),
  "-": () => zoomBy(2),
  l: (panel) => panel.figure.y.log_offered && toggleLogarithmic(panel.figure),
};
function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") {
    hideCursor();
    if (state.zoom) showWholeTime();
    return;
  }
  const panel = panelOf(event.target);
  const action = panel && keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!action) return;
  event.preventDefault();
  const { name } = panel.figure;
  const place = panels.get(name).indexOf(panel);
  action(panel, event);
  panels.get(name)[place]?.svg.focus({ preventScroll: true }); // redrawing replaced the element
}
